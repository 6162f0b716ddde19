package serve

import (
	"os"
	"sync"

	"github.com/5dive/browser/browser"
)

// chromes remembers the Chrome that was found: asking a binary for its version costs a tenth of a second. The answer holds while the choice
// and the file stay the same; a browser that is installed beside it meanwhile is seen by the next service.
type chromes struct {
	mu     sync.Mutex
	choice string
	found  browser.Binary
	file   os.FileInfo
}

func (c *chromes) find(choice string) (browser.Binary, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil && c.choice == choice {
		now, err := os.Stat(c.found.Path)
		if err == nil && os.SameFile(now, c.file) && now.ModTime().Equal(c.file.ModTime()) && now.Size() == c.file.Size() {
			return c.found, nil
		}
	}
	found, err := browser.Find(choice)
	if err != nil {
		return found, err
	}
	file, err := os.Stat(found.Path)
	if err != nil {
		file = nil
	}
	c.choice, c.found, c.file = choice, found, file
	return found, nil
}
