package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

// Hold is a profile that the seat service keeps for a window of the caller's.
type Hold interface {
	Window() api.Window     // what to run
	Ended() <-chan struct{} // closed when the service takes the profile back: end the browser
	// Release follows the end of the browser and returns when the profile is free. killed tells that the service had to kill one.
	Release(ctx context.Context) (killed bool, err error)
	Close() // lets go at once; it may follow Release
}

// HoldWindow asks for the window of site by one call of api.PathWindow that lasts as long as the hold. Its answer is progress
// lines, then one line {"window": ...}, then, when the hold is over, a result or an error. The caller ends the hold by
// api.PathStop once its browser has ended; a connection that breaks ends it too. The service ends it by the last line.
func HoldWindow(ctx context.Context, c *api.Client, site string, progress func(string)) (Hold, error) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	opened := context.AfterFunc(ctx, cancel) // once it is open, an interrupted verb holds on until its browser has saved
	h := &held{client: c, site: site, cancel: cancel, ended: make(chan struct{})}
	if err := h.open(lasting, progress); err != nil {
		h.Close()
		return nil, err
	}
	opened()
	h.work.Go(h.watch)
	return h, nil
}

// held is a Hold over the wire.
type held struct {
	client *api.Client
	site   string
	cancel context.CancelFunc
	body   io.ReadCloser
	lines  *bufio.Scanner
	window api.Window
	ended  chan struct{}
	last   api.StopResult // how the service ended the hold: this or err, to be read after ended is closed
	err    error
	work   sync.WaitGroup
}

// open sends the request and reads up to the window.
func (h *held) open(ctx context.Context, progress func(string)) error {
	body, err := json.Marshal(api.SiteRequest{Site: h.site})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://seat"+api.PathWindow, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return h.client.Dial(ctx) }}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return fault.New(fault.Missing, "cannot reach the seat service: %w", err)
	}
	h.body, h.lines = resp.Body, bufio.NewScanner(resp.Body)
	h.lines.Buffer(nil, api.MaxBody)
	for {
		line, err := h.next()
		switch {
		case err != nil:
			return err
		case line.Window != nil:
			h.window = *line.Window
			return nil
		case line.Result != nil:
			return fault.New(fault.Failed, "the seat service ended the window before it began")
		}
		progress(line.Progress)
	}
}

// next reads one line; a refusal and an answer that breaks off are errors.
func (h *held) next() (api.Line, error) {
	var line api.Line
	if !h.lines.Scan() {
		err := h.lines.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return line, fault.New(fault.Failed, "the seat service broke off its answer: %w", err)
	}
	if err := json.Unmarshal(h.lines.Bytes(), &line); err != nil {
		return line, fault.New(fault.Failed, "cannot read the seat service's answer: %w", err)
	}
	if line.Error != nil {
		return line, line.Error.Fault()
	}
	return line, nil
}

// watch waits for the last line.
func (h *held) watch() {
	defer close(h.ended)
	for {
		line, err := h.next()
		if err == nil && line.Result == nil {
			continue
		}
		if h.err = err; err == nil {
			h.err = json.Unmarshal(line.Result, &h.last)
		}
		return
	}
}

func (h *held) Window() api.Window     { return h.window }
func (h *held) Ended() <-chan struct{} { return h.ended }

func (h *held) Release(ctx context.Context) (killed bool, err error) {
	select {
	case <-h.ended: // the service has it back already
		return h.last.Killed, h.err
	default:
	}
	if err := h.client.Call(ctx, api.PathStop, api.SiteRequest{Site: h.site}, nil, nil); err != nil {
		return false, err
	}
	select {
	case <-h.ended:
		return h.last.Killed, h.err
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func (h *held) Close() {
	h.cancel()
	if h.body != nil {
		h.body.Close()
	}
	h.work.Wait()
}
