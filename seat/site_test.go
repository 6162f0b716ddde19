package seat

import (
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

var (
	label63 = strings.Repeat("a", 63)
	host253 = strings.Join([]string{label63, label63, label63, strings.Repeat("b", 61)}, ".")
)

func TestParseSite(t *testing.T) {
	for _, row := range []struct{ id, host, account, url string }{
		{"linkedin.com", "linkedin.com", "", "https://linkedin.com/"},
		{"linkedin", "linkedin", "", "https://linkedin.com/"},
		{"linkedin.com+work", "linkedin.com", "work", "https://linkedin.com/"},
		{"linkedin+a.b_c-1", "linkedin", "a.b_c-1", "https://linkedin.com/"},
		{"127.0.0.1", "127.0.0.1", "", "https://127.0.0.1/"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", "", "https://xn--bcher-kva.example/"},
		{"a--b.c", "a--b.c", "", "https://a--b.c/"},
		{label63, label63, "", "https://" + label63 + ".com/"},
		{host253, host253, "", "https://" + host253 + "/"},
		{host253 + "+w", host253, "w", "https://" + host253 + "/"},
	} {
		site, err := ParseSite(row.id)
		if err != nil || site != (Site{row.host, row.account}) || site.ID() != row.id || site.URL() != row.url {
			t.Errorf("%q: have %+v %q, %v", row.id, site, site.URL(), err)
		}
	}
}

// hostile names are refused with fault.Usage before any path is built.
var hostile = []string{
	"", ".", "..", "...", "/", "a/b", "../a", "a/..", "-x", "x-", "a.-b", "a-.b", ".state", ".run", "a..b", ".a", "a.", "+", "a+", "+a", "a+b+c", "a+.x", "a+-x",
	"a+" + strings.Repeat("b", 33), "settings.json", "LinkedIn.com", "a b", " a", "a ", "a\x00b", "a\nb", "a\tb", "a\\b", "a:b", "a@b", "a%2e", "a*b", "a?b", "~", "a~",
	"https://a.com", "a。b", "a．b", "a｡b", "bücher.de", "ａ.com", "a\u200b.com", "\u212aelvin.com", strings.Repeat("a", 64), host253 + "c", host253 + "+work",
	strings.Repeat("a", 300), "a_b.com", "_dmarc.a.com", "\xff.com", "a+ü",
}

func TestHostileSites(t *testing.T) {
	s := Seat{Root: "/nonexistent", Name: "x"}
	for _, id := range hostile {
		site, err := ParseSite(id)
		if fault.Of(err) != fault.Usage || site != (Site{}) {
			t.Errorf("%q: have %+v, %v", id, site, err)
		}
		if strings.ContainsAny(err.Error(), "\x00\n\t") {
			t.Errorf("%q: the refusal is not one plain line: %q", id, err)
		}
		// Put together by hand, it still reaches no path.
		if err := s.AuditProfile(Site{Host: id}); err == nil {
			t.Errorf("%q: audited", id)
		}
		if _, err := s.Stamp(Site{Host: id}); fault.Of(err) != fault.Usage {
			t.Errorf("%q: stamp read: %v", id, err)
		}
	}
	if _, err := s.Stamp(Site{Host: "a", Account: "../b"}); fault.Of(err) != fault.Usage {
		t.Errorf("hostile account: %v", err)
	}
	if _, err := s.Stamp(Site{Host: "a+b"}); fault.Of(err) != fault.Usage {
		t.Errorf("an account in the host: %v", err)
	}
	if _, err := ParseSite("LinkedIn.com"); fault.Hint(err) == "" {
		t.Error("upper case gets no hint")
	}
}

func TestSeatNames(t *testing.T) {
	for _, row := range []struct {
		name string
		kind fault.Kind
	}{
		{"root", fault.Denied}, {"daemon", fault.Denied}, {"nobody", fault.Denied}, {"nosuchuser", fault.Denied},
		{"", fault.Usage}, {"..", fault.Usage}, {".", fault.Usage}, {"a/b", fault.Usage}, {"seat1/../seat2", fault.Usage}, {"-x", fault.Usage}, {"0", fault.Usage},
		{"1000", fault.Usage}, {"Root", fault.Usage}, {"a b", fault.Usage}, {"a\n", fault.Usage}, {"a\x00", fault.Usage}, {"a:b", fault.Usage}, {"a$", fault.Usage}, {"ä", fault.Usage},
		{strings.Repeat("a", 33), fault.Usage},
	} {
		if _, err := Named("/nonexistent", row.name); fault.Of(err) != row.kind {
			t.Errorf("%q: have %v (%s), want %s", row.name, err, fault.Of(err), row.kind)
		}
	}
	for _, name := range []string{"a", "_svc", "jane-doe_2", strings.Repeat("a", 32)} {
		if !ValidName(name) {
			t.Errorf("%q is refused", name)
		}
	}
}

func TestRootNames(t *testing.T) {
	me, err := user.LookupId("0")
	must(t, err)
	for _, root := range []string{"relative", "/a/", "/a/../b", "/", "//a", "/a//b", "."} {
		if _, err := Named(root, me.Username); fault.Of(err) != fault.Config {
			t.Errorf("%q: %v", root, err)
		}
	}
	if _, err := Current(""); fault.Of(err) != fault.Denied { // the tests run as root
		t.Errorf("root has a seat: %v", err)
	}
}

func FuzzParseSite(f *testing.F) {
	for _, id := range append(hostile, "linkedin.com", "linkedin+work", host253) {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		site, err := ParseSite(id)
		if err != nil {
			if fault.Of(err) != fault.Usage || site != (Site{}) || len(err.Error()) > 600 {
				t.Fatalf("%q: %+v, %v", id, site, err)
			}
			return
		}
		s := Seat{Root: "/r", Name: "s"}
		if site.ID() != id || site.validate() != nil || len(id) > 255 || filepath.Dir(s.Profile(site)) != "/r/s" || filepath.Base(s.Profile(site)) != id {
			t.Fatalf("%q became %+v at %s", id, site, s.Profile(site))
		}
		if strings.HasPrefix(id, ".") || strings.ContainsAny(id, "/\\ \x00\n%") || id == settingsName {
			t.Fatalf("%q passed", id)
		}
	})
}
