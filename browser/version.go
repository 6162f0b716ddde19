package browser

import (
	"fmt"

	"github.com/5dive/browser/internal/fault"
)

// CheckVersion judges whether now may open a profile that last ran; the zero last is a profile that none has opened. An older major version
// is refused, since Chrome throws away what a newer one has written, cookies among it. Another application is allowed and told in notice.
func CheckVersion(last, now Binary) (notice string, err error) {
	if last.Major > now.Major {
		return "", fault.New(fault.Denied, "cannot open the profile with %s %s: %s %s ran on it last, and an older version would lose its logins",
			now.Name, now.Version, last.Name, last.Version).Try("sudo apt-get install --only-upgrade chromium")
	}
	if last.Name != "" && last.Name != now.Name {
		return fmt.Sprintf("the profile is opened by %s %s; %s %s ran on it last", now.Name, now.Version, last.Name, last.Version), nil
	}
	return "", nil
}
