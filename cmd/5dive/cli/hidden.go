package cli

// seatdVerb is the seat service: systemd starts it, or the first verb of a seat.
func seatdVerb() verb {
	return verb{name: "seatd", hidden: true, raw: true, lasting: true, run: func(c *call) error {
		if c.deps.Seatd == nil {
			return absent()
		}
		return c.deps.Seatd(c.ctx, c.words)
	}}
}

// keeperVerb is the parent of one profile's display and Chrome: the seat service starts it.
func keeperVerb() verb {
	return verb{name: "keeper", hidden: true, raw: true, lasting: true, run: func(c *call) error {
		if c.deps.Keeper == nil {
			return absent()
		}
		return c.deps.Keeper(c.ctx, c.words)
	}}
}
