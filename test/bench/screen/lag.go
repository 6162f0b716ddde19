package main

import (
	"net"
	"time"
)

// lag makes a connection as slow to answer as one that is half of d away in each direction. It limits no rate.
func lag(c net.Conn, d time.Duration) net.Conn {
	near, far := net.Pipe()
	go delay(far, c, d/2)
	go delay(c, far, d/2)
	return near
}

type parcel struct {
	due  time.Time
	data []byte
}

// delay carries bytes from one end to the other, each as late as it is due.
func delay(to, from net.Conn, d time.Duration) {
	queue := make(chan parcel, 4096)
	go func() {
		defer to.Close()
		for p := range queue {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				from.Close()
				for range queue {
				}
				return
			}
		}
	}()
	defer close(queue)
	for {
		b := make([]byte, 64<<10)
		n, err := from.Read(b)
		if err != nil {
			return
		}
		queue <- parcel{time.Now().Add(d), b[:n]}
	}
}
