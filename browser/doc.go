// Package browser owns Chrome: which one is installed, what its profile must hold before a start, and the command line and environment of
// every start. This half of it is the person's Chrome: one with a window and no debugger, in which somebody logs in.
//
// It starts nothing itself and ends nothing but by Interrupt: who calls Command waits for the process. The order of a start is ClearStale,
// Prepare, Command, always by one caller at a time, under the lock of the profile, which the caller holds.
//
// It refuses a browser that is not installed (fault.Missing), a choice of browser that is none (fault.Config), a profile in use (fault.Busy),
// a profile that a newer version has written (fault.Denied) and a profile with links where files belong (fault.Denied). Other failures are
// fault.Failed. It trusts the owner of the profile, whose rights it runs with, and neither pages nor the caller's environment: nothing of
// that environment reaches Chrome.
package browser
