package relay

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

// unknown is what every link gets that cannot be looked at or spent. The text is that of a seat service for an unknown
// view, so that a seat that does not exist reads like a link that does not.
var unknown = fault.New(fault.Failed, "cannot redeem the link: it was used, has expired, or is not for this session")

// refuse answers with an error as JSON. The status is the caller's where HTTP has its own for it.
func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(api.NewError(err)) // an error is the browser's: it went away
}

// fail answers with what a seat service said.
func fail(w http.ResponseWriter, err error) {
	err = plain(err)
	refuse(w, fault.Of(err).Status(), err)
}

// plain keeps a refusal of the seat service as it is. What failed on the way to it names sockets of this box, which are no
// business of somebody far away.
func plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Err == nil {
		return f
	}
	if fault.Of(err) == fault.Missing {
		return fault.New(fault.Missing, "the box does not answer for this browser right now")
	}
	return fault.New(fault.Failed, "the box broke off its answer: it may have happened or not")
}

// answer writes a result as JSON.
func answer(w http.ResponseWriter, result any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(result) // an error is the browser's: it went away
}
