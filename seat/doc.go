// Package seat owns the store of browser profiles: the names of seats and sites, where each thing lies, the audit of
// it, the lock of a profile, and the small records beside it (stamps, settings, profile.json, events).
//
//	<root>/                       root, 0711: traverse, do not list
//	  <seat>/                     that seat, 0700
//	    <site>/                   0700: chrome/ (Chrome's user data), profile.json
//	    .state/ .run/ .adapters/ .artifacts/ .throwaway/   0700
//	    settings.json             written by a person or the operator
//
// A profile directory is a credential. So nothing here is done by path: every call opens the store from "/" down, one
// directory at a time through no link, looks at owner, mode, type and ACL of what it opened, and works below that. What
// is not exactly as it should be is fault.Denied with the path, what it has and what is wanted, and nothing is repaired.
//
// Setup and Remove are for root, who makes and removes <root>/<seat> and nothing below it as himself. Everything else is done by the
// seat. In the embedded default (no systemd, FIVEDIVE_BROWSER_ROOT is the invoking user's own) the store's root belongs to that user and
// the same rules hold with him in the place of root; there alone a sticky directory of root's, /tmp, may be an ancestor.
//
// Modes are octal, times UTC. It trusts root, the seat itself with its own profiles, and no other user.
package seat
