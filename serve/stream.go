package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

// stream writes the NDJSON answer of one call. A caller who left is no fault of the call.
type stream struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	ended   bool
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{w: w, control: http.NewResponseController(w)}
}

// close ends the answer: the handler returns, and net/http takes its writer back. What goes on for the next caller (a browser that starts
// while its caller left) may still tell its story to this one.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (s *stream) line(v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.begin(http.StatusOK)
	s.control.SetWriteDeadline(time.Now().Add(patience)) // a caller who does not read must not hold up what he called for, nor the end of the service
	json.NewEncoder(s.w).Encode(v)
	s.control.Flush()
}

// begin sends the status of the first line.
func (s *stream) begin(status int) {
	if s.begun {
		return
	}
	s.begun = true
	s.w.Header().Set("Content-Type", api.ContentType)
	s.w.WriteHeader(status)
}

func (s *stream) result(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.fail(fault.New(fault.Failed, "cannot encode the answer: %w", err))
		return
	}
	s.line(api.Line{Result: b})
}

func (s *stream) fail(err error) {
	s.mu.Lock()
	if !s.ended {
		s.begin(fault.Of(err).Status())
	}
	s.mu.Unlock()
	s.line(api.Line{Error: api.NewError(err)})
}

// patience is how long a caller may take to take a line, or to send his whole request.
const patience = 10 * time.Second

func readBody(w http.ResponseWriter, req *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(patience))
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, api.MaxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, fault.New(fault.Usage, "cannot read the request: it is longer than %d bytes", large.Limit)
	}
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot read the request: %w", err)
	}
	control.SetReadDeadline(time.Time{}) // not after a failure: net/http would wait for the rest for ever
	return body, nil
}
