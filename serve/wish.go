package serve

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
	"github.com/5dive/browser/seat"
)

// wishes are the sites that somebody wants served, so that a killed service or a reboot puts them back. They lie in the seat's state.
type wishes map[string]wish

type wish struct {
	URL    string `json:"url,omitempty"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

func (s *Service) wishPath() string { return filepath.Join(s.config.Seat.State(), "served.json") }

// wishes reads what is wanted; a file that cannot be read counts as none and says so.
func (s *Service) wishes() wishes {
	w := wishes{}
	b, err := safefile.Read(s.wishPath(), 1<<20)
	if err != nil {
		return w
	}
	if err := json.Unmarshal(b, &w); err != nil {
		logf("cannot read which sites are served: %v", err)
	}
	if w == nil { // the file says null
		return wishes{}
	}
	return w
}

func (s *Service) wish(site string, r request) {
	s.change(func(w wishes) bool { w[site] = wish{r.url, r.width, r.height}; return true })
}

func (s *Service) unwish(site string) {
	s.change(func(w wishes) bool { _, ok := w[site]; delete(w, site); return ok })
}

// unwishBad drops a wish that was judged, unless another has taken its place meanwhile.
func (s *Service) unwishBad(site string, bad wish) {
	s.change(func(w wishes) bool {
		if w[site] != bad {
			return false
		}
		delete(w, site)
		return true
	})
}

// change writes what edit made of the wishes, if it says that it changed them.
func (s *Service) change(edit func(wishes) bool) {
	s.wishTurn.Lock()
	defer s.wishTurn.Unlock()
	w := s.wishes()
	if !edit(w) {
		return
	}
	b, err := json.Marshal(w)
	if err == nil {
		err = safefile.Replace(s.wishPath(), b, 0o600)
	}
	if err != nil {
		logf("cannot keep which sites are served: %v", err)
	}
}

// resume ends what an earlier service and its keepers left behind, and serves again what was served when that service ended.
func (s *Service) resume() {
	for _, site := range s.leftBehind() {
		if err := s.clear(site); err != nil {
			logf("cannot clear up after the last browser of %s: %v", site, err)
		}
	}
	for id, w := range s.wishes() {
		site, err := s.wished(id, w)
		if err != nil { // it will never be better
			logf("cannot serve %.100q again, and will not try any more: %v", id, err)
			s.unwishBad(id, w)
			continue
		}
		if err := s.resumeOne(site, w); err != nil {
			logf("cannot serve %s again: %v", site, err)
		}
	}
}

// wished holds a wish from the file to the rules of a request. It makes no profile: one that is gone was removed by hand.
func (s *Service) wished(id string, w wish) (seat.Site, error) {
	site, err := seat.ParseSite(id)
	if err != nil {
		return site, err
	}
	if _, err := pageURL(w.URL); err != nil {
		return site, err
	}
	if _, _, err := screenSize(fmt.Sprintf("%dx%d", w.Width, w.Height)); err != nil {
		return site, err
	}
	if err := s.config.Seat.Look(site); fault.Of(err) == fault.Usage {
		return site, err
	}
	return site, nil // one that fails the audit may be mended
}

func (s *Service) resumeOne(site seat.Site, w wish) error {
	p, err := s.take(s.ctx, site)
	if err != nil {
		return err
	}
	defer p.give()
	if p.State() != Stopped {
		return nil
	}
	if _, still := s.wishes()[site.ID()]; !still { // stopped or removed while we waited for the turn
		return nil
	}
	return p.serve(s.ctx, request{w.URL, w.Width, w.Height}, func(string) {})
}

// leftBehind lists the profiles whose keeper left a record: it was killed, or is still saving a login.
func (s *Service) leftBehind() []seat.Site {
	paths, _ := filepath.Glob(filepath.Join(s.config.Seat.Run(), recordPrefix+"*"+recordSuffix)) // the pattern is ours
	var sites []seat.Site
	for _, path := range paths {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), recordPrefix), recordSuffix)
		if site, err := seat.ParseSite(id); err == nil {
			sites = append(sites, site)
		}
	}
	return sites
}

// clear adopts what is left of a profile, unless a call does so already.
func (s *Service) clear(site seat.Site) error {
	p, err := s.take(s.ctx, site)
	if err != nil {
		return err
	}
	defer p.give()
	if p.State() != Stopped || !p.remembered() {
		return nil
	}
	lock, err := p.lock(s.ctx, func(string) {})
	if err != nil {
		return err
	}
	return lock.Close()
}
