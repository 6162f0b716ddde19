package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/5dive/browser/internal/fault"
)

// Client speaks to one seat service. It is safe for concurrent use; Close drops idle connections.
type Client struct {
	dial func(ctx context.Context) (net.Conn, error)
	http *http.Client
}

// NewClient makes a client of the service that dial reaches.
func NewClient(dial func(ctx context.Context) (net.Conn, error)) *Client {
	return &Client{dial: dial, http: &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConnsPerHost: 2,
	}}}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Dial opens a raw connection, for the stream of a view. The caller closes it.
func (c *Client) Dial(ctx context.Context) (net.Conn, error) { return c.dial(ctx) }

// Call posts one request and decodes the last line of the answer into result (nil to drop it). Progress lines go to
// progress, which may be nil. A refusal comes back as *fault.Error; an answer that breaks off is Failed, since what
// was asked may have happened.
func (c *Client) Call(ctx context.Context, path string, request, result any, progress func(string)) error {
	return c.CallView(ctx, path, "", request, result, progress)
}

// CallView is Call with the token of a view.
func (c *Client) CallView(ctx context.Context, path, token string, request, result any, progress func(string)) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("cannot encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://seat"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("cannot make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set(TokenHeader, token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fault.New(fault.Missing, "cannot reach the seat service: %w", err)
	}
	defer resp.Body.Close()
	return read(resp.Body, result, progress)
}

func read(body io.Reader, result any, progress func(string)) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var line Line
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fault.New(fault.Failed, "cannot read the seat service's answer: %w", err)
		}
		switch {
		case line.Error != nil:
			return line.Error.Fault()
		case line.Result != nil:
			if result == nil {
				return nil
			}
			return json.Unmarshal(line.Result, result)
		case progress != nil:
			progress(line.Progress)
		}
	}
	err := lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.Failed, "the seat service broke off its answer: %w", err)
}

// Fault turns a refusal on the wire into an error; an unknown code is Failed.
func (e *Error) Fault() *fault.Error {
	kind := fault.Kind(e.Code)
	if !kind.Valid() {
		kind = fault.Failed
	}
	return &fault.Error{Kind: kind, What: e.Message, Hint: e.Hint}
}

// NewError turns an error into a refusal on the wire.
func NewError(err error) *Error {
	return &Error{Code: string(fault.Of(err)), Message: err.Error(), Hint: fault.Hint(err)}
}
