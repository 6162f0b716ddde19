package line

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo is a far end that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

func through(t *testing.T) (*Line, net.Conn) {
	t.Helper()
	l, err := New(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, dial(t, l)
}

func dial(t *testing.T, l *Line) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp4", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(30 * time.Second))
	return c
}

func trip(t *testing.T, c net.Conn, n int) time.Duration {
	t.Helper()
	out := bytes.Repeat([]byte("harbour "), n/8)
	start := time.Now()
	go c.Write(out)
	in := make([]byte, len(out))
	if _, err := io.ReadFull(c, in); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(in, out) {
		t.Fatal("the bytes were changed")
	}
	return time.Since(start)
}

func TestGoodLinePassesEverything(t *testing.T) {
	_, c := through(t)
	trip(t, c, 4<<20)
}

func TestDelay(t *testing.T) {
	l, c := through(t)
	l.Set(Shape{Delay: 50 * time.Millisecond})
	if took := trip(t, c, 8); took < 100*time.Millisecond {
		t.Errorf("a round trip took %v, want at least 100 ms", took)
	}
}

func TestRate(t *testing.T) {
	l, c := through(t)
	l.Set(Shape{ToClient: 200_000})
	if took := trip(t, c, 400_000); took < 1900*time.Millisecond {
		t.Errorf("400 kB at 200 kB/s took %v", took)
	}
}

func TestHoleTellsNobodyAndForgetsNothing(t *testing.T) {
	l, c := through(t)
	trip(t, c, 8)
	l.Set(Shape{Hole: true})
	if _, err := c.Write([]byte("lost?")); err != nil {
		t.Fatal(err)
	}
	late := dial(t, l)
	late.Write([]byte("late!"))
	for _, conn := range []net.Conn{c, late} {
		conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); !os.IsTimeout(err) {
			t.Fatalf("reading in the hole: %v, want silence", err)
		}
		conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	}
	l.Set(Shape{})
	for conn, want := range map[net.Conn]string{c: "lost?", late: "late!"} {
		got := make([]byte, 5)
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			t.Errorf("after the hole: %q, %v, want %q", got, err, want)
		}
	}
}

func TestDropResetsAndTakesNewOnes(t *testing.T) {
	l, c := through(t)
	trip(t, c, 8)
	l.Drop()
	if _, err := c.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("after a drop: %v, want a reset", err)
	}
	trip(t, dial(t, l), 8)
	if l.Opened() != 2 {
		t.Errorf("%d connections, want 2", l.Opened())
	}
}

func TestEndIsPassedOn(t *testing.T) {
	l, c := through(t)
	c.Write([]byte("last words"))
	c.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(c); err != nil || string(got) != "last words" {
		t.Errorf("%q, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := l.Wait(ctx, 0); err != nil {
		t.Error(err)
	}
}
