package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/5dive/browser/test/rfb"
)

// run lets viewers take size bytes of picture together through a contender, and adds what it cost to the result.
func run(ctx context.Context, kind string, viewers int, size int64, into *result) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	source := &rfb.Source{Blast: size / int64(viewers)}
	path, done, err := listen(source)
	if err != nil {
		return err
	}
	defer done()
	c, err := start(ctx, kind, path)
	if err != nil {
		return err
	}
	defer c.stop()
	clients := make([]*rfb.Client, viewers)
	for i := range clients {
		if clients[i], err = view(c.addr); err != nil {
			return err
		}
		conn := clients[i].Stream.(io.Closer)
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
	}
	if viewers == 1 {
		direct, err := net.Dial("unix", path)
		if err != nil {
			return err
		}
		defer direct.Close()
		added, err := latency(clients[0], direct)
		if err != nil {
			return err
		}
		into.latency = append(into.latency, added)
	}
	return take(c, clients, source.Blast, into)
}

// listen serves the source on a Unix socket.
func listen(source *rfb.Source) (path string, done func(), err error) {
	dir, err := os.MkdirTemp("", "bench-bridge")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "vnc")
	l, err := net.Listen("unix", path)
	if err != nil {
		return "", nil, err
	}
	var accepting sync.WaitGroup
	accepting.Go(func() { source.Listen(l) })
	return path, func() {
		l.Close()
		accepting.Wait()
		source.Close()
		os.RemoveAll(dir)
	}, nil
}

// view opens a viewer.
func view(addr string) (*rfb.Client, error) {
	conn, err := net.Dial("tcp4", addr)
	if err != nil {
		return nil, err
	}
	ws, _, err := rfb.DialWebsocket(conn, "http://"+addr+"/", nil)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return rfb.Join(ws, "")
}

// take lets every client read its picture at once, and measures.
func take(c *contender, clients []*rfb.Client, each int64, into *result) error {
	pid := c.cmd.Process.Pid
	before := cpu(pid)
	errs := make(chan error, len(clients))
	var reading sync.WaitGroup
	for _, client := range clients {
		reading.Go(func() { errs <- swallow(client, each) })
	}
	finished := make(chan struct{})
	go func() { reading.Wait(); close(finished) }()
	most := pss(pid)
	for ticker := time.NewTicker(200 * time.Millisecond); ; {
		select {
		case <-ticker.C:
			most = max(most, pss(pid))
			continue
		case <-finished:
			ticker.Stop()
		}
		break
	}
	used := cpu(pid) - before
	into.cpu = append(into.cpu, used.Seconds()/(float64(each)*float64(len(clients))/1e9))
	into.pss = append(into.pss, most)
	for range clients {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// swallow asks for the picture and reads it to the last byte.
func swallow(client *rfb.Client, n int64) error {
	if err := client.Update(); err != nil {
		return err
	}
	p := make([]byte, 256<<10)
	for left := n; left > 0; {
		got, err := client.Stream.Read(p[:min(left, int64(len(p)))])
		if left -= int64(got); err != nil {
			return fmt.Errorf("%d bytes before the end: %w", left, err)
		}
	}
	return nil
}

// latency is how many milliseconds a contender adds to the way of a pointer event to the VNC server and of the answer
// back, at p50; direct is a connection to that server's socket.
func latency(client *rfb.Client, direct net.Conn) (float64, error) {
	bare, err := rfb.Join(direct, "")
	if err != nil {
		return 0, err
	}
	var through, straight []float64
	for range 2000 {
		for _, way := range []struct {
			c    *rfb.Client
			into *[]float64
		}{{client, &through}, {bare, &straight}} {
			d, err := echo(way.c)
			if err != nil {
				return 0, err
			}
			*way.into = append(*way.into, d)
		}
	}
	return median(through) - median(straight), nil
}

func echo(c *rfb.Client) (float64, error) {
	start := time.Now()
	if err := c.Pointer(0, 1, 1); err != nil {
		return 0, err
	}
	var bell [1]byte
	if _, err := io.ReadFull(c.Stream, bell[:]); err != nil {
		return 0, err
	}
	return float64(time.Since(start)) / 1e6, nil
}
