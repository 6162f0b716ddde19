// Package api is the wire between a seat service and everyone who speaks to it: verbs, relay, metrics. It holds the
// request and answer shapes, the stream of progress lines, and the client. It decides nothing.
//
// Every call is one POST with a JSON body on a Unix socket. The answer is NDJSON: any number of progress lines, then exactly one
// line with a result or an error. Times are seconds, sizes pixels. A field is added, never re-meant.
package api

import "encoding/json"

// Routes of a seat service. Who may call each stands beside its handler in package serve.
const (
	PathServe   = "/v1/serve"
	PathStop    = "/v1/stop"
	PathRemove  = "/v1/profile-rm"
	PathList    = "/v1/ls"
	PathWindow  = "/v1/window"
	PathViewer  = "/v1/viewer"
	PathRedeem  = "/v1/viewer-redeem"
	PathRevoke  = "/v1/viewer-revoke"
	PathVersion = "/v1/version"
	PathWait    = "/v1/view/wait"
	PathPeek    = "/v1/view/peek"
	PathEnter   = "/v1/view/enter"
	PathState   = "/v1/view/state"
	PathText    = "/v1/view/text"
	PathSize    = "/v1/view/size"
	PathDone    = "/v1/view/done"
	PathCancel  = "/v1/view/cancel"
	PathStream  = "/v1/view/stream" // GET, a websocket upgrade; binary frames carry RFB
	TokenHeader = "View-Token"      // on state, text, size, done, cancel, stream: the token that enter gave
	ContentType = "application/x-ndjson"
	MaxBody     = 1 << 20  // bytes of a request body
	MaxText     = 64 << 10 // bytes of one text sent into a page
)

// Line is one line of an answer. Exactly one of its fields is set.
type Line struct {
	Progress string          `json:"progress,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *Error          `json:"error,omitempty"`
	Window   *Window         `json:"window,omitempty"` // PathWindow only, before the call lasts
}

// Error is a refusal on the wire; Code is a fault.Kind.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// ServeRequest opens a person's browser. URL and Size may be empty (the site's own page, 1280x800).
type ServeRequest struct {
	Site string `json:"site"`
	URL  string `json:"url,omitempty"`
	Size string `json:"size,omitempty"` // WxH
}

// ServeResult tells what now runs.
type ServeResult struct {
	Site    string `json:"site"`
	State   string `json:"state"`   // "served"
	Already bool   `json:"already"` // it was served before this call
	Chrome  string `json:"chrome"`  // name and version of the browser
}

// SiteRequest names one profile.
type SiteRequest struct {
	Site string `json:"site"`
}

// StopResult tells how a stop went.
type StopResult struct {
	Site    string `json:"site"`
	State   string `json:"state"`   // "stopped"
	Already bool   `json:"already"` // nothing ran
	Killed  bool   `json:"killed"`  // Chrome did not end by itself: a login of the last 30 s may be lost
}

// RemoveResult tells that a profile and its login are gone.
type RemoveResult struct {
	Site    string `json:"site"`
	Removed bool   `json:"removed"` // always true: a profile that stays is a refusal
}

// ListRequest asks for every profile, or for Site alone, which is then audited whole: a bad one is a refusal.
type ListRequest struct {
	Site string `json:"site,omitempty"`
}

// ListResult answers ls, sorted by site.
type ListResult struct {
	Seat     string    `json:"seat"`
	Profiles []Profile `json:"profiles"`
}

// Profile is one row of ls.
type Profile struct {
	Site     string `json:"site"`
	State    string `json:"state"`         // last verdict: authenticated, session expired..., CHALLENGE..., UNKNOWN (reason)
	LastSeen string `json:"last_seen"`     // RFC 3339 of the last authenticated verdict, or ""
	Held     string `json:"held"`          // stopped, starting, served, window, stopping
	Viewer   string `json:"viewer"`        // none, waiting (a link is out), open
	Bad      *Error `json:"bad,omitempty"` // why every other verb will refuse it; State is then UNKNOWN
}

// ViewerRequest asks for a one-time link. Bind is mandatory.
type ViewerRequest struct {
	Site string `json:"site"`
	Bind string `json:"bind"`
	TTL  int    `json:"ttl,omitempty"` // seconds, 30 to 3600; 0 is 600
	Note string `json:"note,omitempty"`
}

// ViewerResult holds the link, which is a secret until it is spent: it leaves on stdout and nowhere else.
type ViewerResult struct {
	Site    string `json:"site"`
	View    string `json:"view"` // public id
	Link    string `json:"link"`
	Nonce   string `json:"nonce"`   // the fragment of the link, for a relay of one's own
	Bind    string `json:"bind"`    // the session it is bound to
	Expires int    `json:"expires"` // seconds until it is void
	Server  string `json:"server"`  // tigervnc or x11vnc
}

// RedeemRequest spends a link from outside: by site, as an outside relay does.
type RedeemRequest struct {
	Site    string `json:"site"`
	Nonce   string `json:"nonce"`
	Session string `json:"session"`
}

// RedeemResult is printed exactly once.
type RedeemResult struct {
	Target   string `json:"target"` // 127.0.0.1:PORT
	Password string `json:"password"`
}

// RevokeResult tells what was revoked.
type RevokeResult struct {
	Site    string `json:"site"`
	Revoked bool   `json:"revoked"` // false: there was no view
}

// WaitRequest waits for the end of a view.
type WaitRequest struct {
	View string `json:"view"`
}

// WaitResult tells how a view ended.
type WaitResult struct {
	End   string `json:"end"`   // done, cancelled, revoked, expired, idle, gone, limit
	State string `json:"state"` // the verdict that Done showed, or ""
}

// PeekRequest looks at a link without touching it. Hash is the lower-case hex SHA-256 of the nonce.
type PeekRequest struct {
	View string `json:"view"`
	Hash string `json:"hash"`
}

// Peek is what a person sees before the click.
type Peek struct {
	Site   string `json:"site"`
	Seat   string `json:"seat"`
	Note   string `json:"note"`
	Left   int    `json:"left"`   // seconds until the link is void
	Server string `json:"server"` // tigervnc or x11vnc
}

// EnterRequest spends a link for the relay's page.
type EnterRequest struct {
	View    string `json:"view"`
	Nonce   string `json:"nonce"`
	Session string `json:"session"`
}

// EnterResult holds the token of the view, good until the view ends.
type EnterResult struct {
	Token string `json:"token"`
	Left  int    `json:"left"` // seconds until the hard end
}

// ViewState is what the page polls.
type ViewState struct {
	Site   string `json:"site"`
	Phase  string `json:"phase"` // open, saving, ended
	End    string `json:"end,omitempty"`
	Left   int    `json:"left"`   // seconds until the hard end
	Idle   int    `json:"idle"`   // seconds until the idle end
	Server string `json:"server"` // tigervnc or x11vnc
}

// TextRequest sends text into the focused field. Typed asks for key presses instead of a paste.
type TextRequest struct {
	Text  string `json:"text"`
	Typed bool   `json:"typed,omitempty"`
}

// TextResult counts what was sent.
type TextResult struct {
	Characters int    `json:"characters"`
	Way        string `json:"way"` // pasted or typed
}

// SizeRequest asks for another screen size, in pixels of the remote screen.
type SizeRequest struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// SizeResult is the size that the screen now has.
type SizeResult struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// DoneResult is what a person sees at the end.
type DoneResult struct {
	State string `json:"state"` // the verdict, in the exact words of status
	Saved bool   `json:"saved"` // Chrome ended by itself, so that the login is on disk
}

// Version answers version.
type Version struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
}

// Window is what auth --window runs: the service prepared the profile and holds it while the call lasts.
type Window struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
}
