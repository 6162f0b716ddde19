package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return "interrupted by " + i.signal.String() }

// catch gives a context that ends at the first SIGINT, SIGTERM or SIGHUP. A second one ends the process at once, unless it is
// lasting: what a service or a keeper has begun to close it closes in full. stop gives the signals back.
func catch(parent context.Context, lasting bool) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case s := <-signals:
			if !lasting {
				signal.Stop(signals)
			}
			cancel(interrupted{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
		signal.Stop(signals)
	}
}

// caught tells which signal ended ctx.
func caught(ctx context.Context) (syscall.Signal, bool) {
	var i interrupted
	ok := errors.As(context.Cause(ctx), &i)
	return i.signal, ok
}
