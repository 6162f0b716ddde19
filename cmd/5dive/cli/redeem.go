package cli

import (
	"bufio"
	"io"
	"strings"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/serve/api"
)

func redeemVerb() verb {
	return verb{
		name: "viewer-redeem", args: "SITE", short: "spend a link from outside (a relay of one's own)",
		long: "Reads the nonce, the part of the link after #, as the first line of stdin. Prints target= and password= exactly once:\n" +
			"a websocket that carries RFB, and the VNC password of this one view.",
		example: "viewer-redeem linkedin.com --nonce=- --session=local < nonce",
		flags: []flag{
			{name: "nonce", value: "-", short: "always `-`: every user of the box can read the words of a command", need: true, known: []string{"-"}},
			{name: "session", value: "ID", short: "the session that redeems; the link is bound to one", need: true},
			seatFlag(), jsonFlag(),
		},
		first: refuseNonce,
		run:   runRedeem,
	}
}

// refuseNonce refuses a nonce among the words before anything else is looked at: other users have seen it by now.
func refuseNonce(c *call) error {
	if n := c.flags.String("nonce"); c.flags.IsSet("nonce") && n != "-" {
		return usage("the nonce is read from stdin only; one on the command line was seen by every user of this box, so its link must be revoked").
			Try("%s help viewer-redeem", program)
	}
	return nil
}

func runRedeem(c *call) error {
	nonce, err := readNonce(c)
	if err != nil {
		return err
	}
	var r api.RedeemResult
	request := api.RedeemRequest{Site: c.site(), Nonce: nonce.Reveal(), Session: c.flags.String("session")}
	if err := c.ask(api.PathRedeem, request, &r); err != nil {
		return err
	}
	return c.answer(r, pairs("target", r.Target, "password", r.Password))
}

// maxNonce is far more than a nonce has. What is longer is sent cut, and so refused in the words of any wrong nonce.
const maxNonce = 1024

func readNonce(c *call) (secret.Text, error) {
	line, err := bufio.NewReader(io.LimitReader(c.deps.Stdin, maxNonce)).ReadString('\n')
	if err != nil && err != io.EOF {
		return secret.Text{}, fault.New(fault.Failed, "cannot read the nonce from stdin: %w", err)
	}
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if line == "" {
		return secret.Text{}, usage("there is no nonce on stdin")
	}
	return secret.New(line), nil
}
