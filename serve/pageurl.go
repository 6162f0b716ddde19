package serve

import (
	"net/url"
	"strings"

	"github.com/5dive/browser/internal/fault"
)

const maxURL = 8 << 10

// pageURL checks the page that a person's browser opens first. A URL may hold a one-time token, so none is ever repeated in an error.
func pageURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxURL || strings.ContainsAny(text, "\x00\r\n\t "):
		return "", fault.New(fault.Usage, "cannot open the page: it is not a URL").Try("--url=https://HOST/PATH")
	case u.Scheme != "https" && u.Scheme != "http":
		return "", fault.New(fault.Usage, "cannot open the page: want http or https, have %.20q", u.Scheme).Try("--url=https://HOST/PATH")
	case u.Hostname() == "" || u.User != nil:
		return "", fault.New(fault.Usage, "cannot open the page: want a host and no user name in the URL").Try("--url=https://HOST/PATH")
	}
	return u.String(), nil
}
