package seat

import (
	"strings"

	"github.com/5dive/browser/internal/fault"
)

// Limits of a profile's id. A host is at most 253 characters, a label 63 (RFC 1035); a name in a directory 255.
const (
	maxHost    = 253
	maxLabel   = 63
	maxAccount = 32
	maxID      = 255
)

// settingsName lies beside the profiles, and is the one name there that a host could have.
const settingsName = "settings.json"

// Site names one profile: a host, verbatim when it has a dot, else a bare label, and an account where a person has two
// of one site. The zero Site names nothing.
type Site struct {
	Host    string // "linkedin.com", "linkedin"
	Account string // "", "work"
}

// ParseSite reads HOST or HOST+ACCOUNT. Nothing is folded or trimmed: what is not a plain lower-case name is refused
// before any path is built from it.
func ParseSite(id string) (Site, error) {
	host, account, two := strings.Cut(id, "+")
	if fold := strings.ToLower(id); fold != id && validHost(strings.ToLower(host)) {
		return Site{}, badSite(id, "upper-case letters").Try("the name in lower case: %s", fold)
	}
	switch {
	case len(id) > maxID:
		return Site{}, fault.New(fault.Usage, "cannot use site name %.40q...: longer than %d characters", id, maxID)
	case !validHost(host):
		return Site{}, badSite(id, "not a host name (letters, digits, hyphens and dots; labels of 1 to 63 characters)")
	case two && !validAccount(account):
		return Site{}, badSite(id, "not an account name (1 to 32 letters, digits, dots, hyphens and underscores) after +")
	case id == settingsName:
		return Site{}, badSite(id, "reserved")
	}
	return Site{Host: host, Account: account}, nil
}

func badSite(id, why string) *fault.Error {
	return fault.New(fault.Usage, "cannot use site name %.80q: %s", id, why)
}

// ID is the profile's id, and the name of its directory.
func (s Site) ID() string {
	if s.Account == "" {
		return s.Host
	}
	return s.Host + "+" + s.Account
}

func (s Site) String() string { return s.ID() }

// URL is where the site is taken to be: the host itself, or for a bare label the guess <label>.com. An adapter's
// probe.url outranks it.
func (s Site) URL() string {
	if strings.Contains(s.Host, ".") {
		return "https://" + s.Host + "/"
	}
	return "https://" + s.Host + ".com/"
}

// validate repeats ParseSite for a Site that was put together by hand, so that none reaches a path unchecked.
func (s Site) validate() error {
	parsed, err := ParseSite(s.ID())
	if err == nil && parsed != s {
		err = badSite(s.ID(), "host and account do not fit together")
	}
	return err
}

func validHost(host string) bool {
	if len(host) > maxHost {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' || !only(label, "-") {
			return false
		}
	}
	return true
}

func validAccount(account string) bool {
	return account != "" && len(account) <= maxAccount && account[0] != '.' && account[0] != '-' && only(account, ".-_")
}

// only tells whether s has nothing but lower-case ASCII letters, digits and the bytes of more.
func only(s, more string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return true
}
