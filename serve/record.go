package serve

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/5dive/browser/internal/safefile"
	"github.com/5dive/browser/serve/keeper"
)

// A record in the run directory names what a keeper of this profile runs, for the next service if both die.

const recordPrefix, recordSuffix = "keeper-", ".json"

func (p *profile) recordPath() string {
	return filepath.Join(p.service.config.Seat.Run(), recordPrefix+p.site.ID()+recordSuffix)
}

func (p *profile) remember(left keeper.Left) {
	b, err := json.Marshal(left)
	if err == nil {
		err = safefile.Replace(p.recordPath(), b, 0o600)
	}
	if err != nil {
		logf("cannot record the keeper of %s: %v", p.site, err)
	}
}

func (p *profile) recall() (left keeper.Left, ok bool) {
	b, err := safefile.Read(p.recordPath(), 1<<16)
	return left, err == nil && json.Unmarshal(b, &left) == nil
}

func (p *profile) remembered() bool { _, ok := p.recall(); return ok }

func (p *profile) forget() {
	if err := os.Remove(p.recordPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		logf("cannot remove a record: %v", err)
	}
}

func number(n int) string { return strconv.Itoa(n) }
