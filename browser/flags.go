package browser

import (
	"strings"

	"golang.org/x/sys/unix"
)

// flags are the switches of every start, without the page. Left out on purpose: any --remote-debugging or --enable-automation (the page sees
// both), --no-sandbox, and --window-size, which makes a popup as large as its opener.
func (p Person) flags() []string {
	list := []string{
		mark,
		"--user-data-dir=" + p.UserData,
		"--profile-directory=Default",
		// The same at every start, or cookies written under one key cannot be read under the other, and Chrome deletes those.
		"--password-store=basic",
		"--no-first-run",
		"--no-default-browser-check",
		"--disable-search-engine-choice-screen",
		"--hide-crash-restore-bubble",
		"--start-maximized",
		// The crash handler still writes minidumps, below HOME, which is Scratch. Not --disable-crashpad-for-testing: with it the network
		// service of Chromium 156 dies and is started again for ever, and no page loads.
		"--disable-breakpad",
		"--disable-gpu",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-domain-reliability",
		"--disable-sync",
		"--no-pings",
		"--disable-features=" + strings.Join(featuresOff, ","),
	}
	if !roomyShm("/dev/shm") {
		list = append(list, "--disable-dev-shm-usage")
	}
	return list
}

var featuresOff = []string{
	// 131 MiB an idle seat instead of 188 together with --disable-gpu, measured on Chromium 156.
	"WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "SpareRendererForSitePerProcess",
	// These talk to others: the time and what a form looks like to Google, the language of a page, a search for casting devices by multicast.
	"NetworkTimeServiceQuerying", "AutofillServerCommunication", "OptimizationHints", "Translate", "MediaRouter",
}

// roomyShm tells whether Chrome can keep its shared memory in dir: a container's 64 MB, or a unit without the directory, crash its renderers.
// The alternative is TMPDIR. Debian's start script asks for 3.8 GB, which no small machine has.
func roomyShm(dir string) bool {
	const want = 1 << 30
	var st unix.Statfs_t
	if unix.Access(dir, unix.W_OK|unix.X_OK) != nil || unix.Statfs(dir, &st) != nil {
		return false
	}
	return st.Bavail*uint64(st.Bsize) >= want
}

// mark stands in the command line of every browser that this package starts; Chrome does not know it. An environment variable would not do:
// Chrome writes zeros over its environment.
const mark = "--5dive-browser"

// environment is built from nothing: what the caller has (a session bus, proxies, a keyring, a locale) must not change what Chrome does.
func (p Person) environment() []string {
	language := "en_US"
	if m := localeName.FindStringSubmatch(p.Locale); m != nil {
		language = strings.ToLower(m[1])
		if m[2] != "" {
			language += "_" + strings.ToUpper(m[2])
		}
	}
	list := []string{
		"HOME=" + p.Scratch,
		"TMPDIR=" + p.Scratch,
		"PATH=/usr/bin:/bin",
		"LANG=" + language + ".UTF-8",
		"LANGUAGE=" + language,
		"DISPLAY=" + p.Display,
		"XAUTHORITY=" + p.Authority,
		// Without an address libdbus would look for a bus by itself, by way of the X display or by starting one.
		"DBUS_SESSION_BUS_ADDRESS=disabled:",
		"DBUS_SYSTEM_BUS_ADDRESS=disabled:",
		// Without any value Chromium shows a bar that its keys are missing.
		"GOOGLE_API_KEY=no",
		"GOOGLE_DEFAULT_CLIENT_ID=no",
		"GOOGLE_DEFAULT_CLIENT_SECRET=no",
	}
	if p.TimeZone != "" {
		list = append(list, "TZ="+p.TimeZone)
	}
	return list
}
