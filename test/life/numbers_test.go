//go:build !long

package life_test

// How often P06 goes round, and how many sites are served at once; the tag long has the numbers of the cases.
const (
	cutViews = 2
	cycles   = 5
	sites    = 4
)
