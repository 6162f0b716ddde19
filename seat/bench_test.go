package seat

import (
	"fmt"
	"os"
	"testing"

	"github.com/5dive/browser/internal/testuser"
)

// BenchmarkAuditProfile audits a profile of 5,000 files in 100 directories, about what a used Chrome profile with its cache has.
func BenchmarkAuditProfile(b *testing.B) {
	u := testuser.New(b)
	root, _, profile := inhabited(b, u)
	for d := range 100 {
		dir := fmt.Sprintf("%s/chrome/Default/d%d", profile, d)
		must(b, os.Mkdir(dir, 0o700))
		must(b, os.Chown(dir, u.UID, u.GID))
		for f := range 50 {
			path := fmt.Sprintf("%s/f%d", dir, f)
			must(b, os.WriteFile(path, nil, 0o600))
			must(b, os.Chown(path, u.UID, u.GID))
		}
	}
	for b.Loop() {
		must(b, rootAudit(root, u))
	}
}
