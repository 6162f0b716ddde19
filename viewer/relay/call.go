package relay

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

// Limits of one step. Ending a browser takes up to 36 s and its login is probed after that; text that is typed key by
// key takes as long as it is long.
const (
	quickLimit = 20 * time.Second
	enterLimit = 60 * time.Second
	textLimit  = 5 * time.Minute
	doneLimit  = 4 * time.Minute
)

// peek tells what a link is for, by the hash of its nonce. It changes nothing.
func (r *Relay) peek(w http.ResponseWriter, req *http.Request, v visit) {
	var in struct {
		Hash string `json:"hash"`
	}
	if !decode(w, req, &in) {
		return
	}
	out := api.Peek{}
	if r.ask(w, req, v, api.PathPeek, api.PeekRequest{View: v.view, Hash: in.Hash}, &out, quickLimit) {
		answer(w, out)
	}
}

// enter spends the link and gives the cookie. The token goes nowhere else.
func (r *Relay) enter(w http.ResponseWriter, req *http.Request, v visit) {
	var in struct {
		Nonce string `json:"nonce"`
	}
	if !decode(w, req, &in) {
		return
	}
	out := api.EnterResult{}
	if r.ask(w, req, v, api.PathEnter, api.EnterRequest{View: v.view, Nonce: in.Nonce, Session: v.session}, &out, enterLimit) {
		v.token = out.Token
		r.give(w, v, time.Duration(out.Left)*time.Second)
		answer(w, struct {
			Left int `json:"left"`
		}{out.Left})
	}
}

func (r *Relay) state(w http.ResponseWriter, req *http.Request, v visit) {
	r.pass(w, req, v, api.PathState, &struct{}{}, &api.ViewState{}, quickLimit)
}

func (r *Relay) text(w http.ResponseWriter, req *http.Request, v visit) {
	r.pass(w, req, v, api.PathText, &api.TextRequest{}, &api.TextResult{}, textLimit)
}

func (r *Relay) size(w http.ResponseWriter, req *http.Request, v visit) {
	r.pass(w, req, v, api.PathSize, &api.SizeRequest{}, &api.SizeResult{}, quickLimit)
}

func (r *Relay) cancel(w http.ResponseWriter, req *http.Request, v visit) {
	r.pass(w, req, v, api.PathCancel, &struct{}{}, &struct{}{}, enterLimit)
}

// pass hands a request of the page to the seat service as it is, and the result back.
func (r *Relay) pass(w http.ResponseWriter, req *http.Request, v visit, path string, in, out any, limit time.Duration) {
	if decode(w, req, in) && r.ask(w, req, v, path, in, out, limit) {
		answer(w, out)
	}
}

// ask calls the seat service and answers itself when that refuses.
func (r *Relay) ask(w http.ResponseWriter, req *http.Request, v visit, path string, in, out any, limit time.Duration) bool {
	client, ok := r.config.Seat(v.seat)
	if !ok {
		fail(w, unknown)
		return false
	}
	allow(w, limit)
	ctx, cancel := context.WithTimeout(req.Context(), limit)
	defer cancel()
	if err := client.CallView(ctx, path, v.token, in, out, nil); err != nil {
		fail(w, err)
		return false
	}
	return true
}

// done ends the view and tells how the login stands. Its progress goes out as it comes, since a proxy between may cut a
// silent answer after a minute. What was begun goes on when the person closes the page: the login is saved all the same.
func (r *Relay) done(w http.ResponseWriter, req *http.Request, v visit) {
	client, ok := r.config.Seat(v.seat)
	if !ok {
		fail(w, unknown)
		return
	}
	if !decode(w, req, &struct{}{}) {
		return
	}
	rc := allow(w, doneLimit)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), doneLimit)
	defer cancel()
	started := false
	say := func(line api.Line) { // errors are the browser's: it went away
		if !started {
			w.Header().Set("Content-Type", api.ContentType)
			w.Header().Set("X-Accel-Buffering", "no") // nginx would keep the lines until the end
			started = true
		}
		json.NewEncoder(w).Encode(line)
		rc.Flush()
	}
	var out json.RawMessage
	err := client.CallView(ctx, api.PathDone, v.token, struct{}{}, &out, func(text string) { say(api.Line{Progress: text}) })
	switch {
	case err == nil:
		say(api.Line{Result: out})
	case started:
		say(api.Line{Error: api.NewError(plain(err))})
	default:
		fail(w, err)
	}
}

// allow gives a step its time. Reading has to be allowed too: net/http watches the connection while a handler runs, and takes
// the server's ReadTimeout for a person who went away.
func allow(w http.ResponseWriter, limit time.Duration) *http.ResponseController {
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(limit + 10*time.Second))
	rc.SetWriteDeadline(time.Now().Add(limit + 10*time.Second))
	return rc
}

// decode reads the one JSON object of a body. Unknown fields, more than one value and more than api.MaxBody are refused.
func decode(w http.ResponseWriter, req *http.Request, into any) bool {
	body := json.NewDecoder(http.MaxBytesReader(w, req.Body, api.MaxBody))
	body.DisallowUnknownFields()
	if body.Decode(into) == nil {
		if _, err := body.Token(); err == io.EOF {
			return true
		}
	}
	// The error's own text may quote the body, which may hold a nonce.
	refuse(w, http.StatusBadRequest, fault.New(fault.Usage, "the request is not the one JSON object that this address takes"))
	return false
}
