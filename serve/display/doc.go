// Package display owns one profile's screen: a private Xvfb, its window manager, the VNC server of a view, and the
// keyboard and clipboard of whoever looks at it. It starts them, proves them private and ends them, in that order.
//
// What it holds to, each against something that was seen to work as an attack:
//   - Xvfb listens on one socket only, the file /tmp/.X11-unix/Xn. The abstract name of the same number is bound and
//     never listened on, so that nobody else can catch our clients with it or fill the server's client slots.
//   - Xvfb admits everybody, silently, when its authority file is missing, empty or garbled. So every start is probed:
//     the server's process must be the one that we started, it must take our cookie and refuse a caller without one.
//     Anything else ends the start, and nothing is left running.
//   - Without a private IPC namespace the MIT-SHM extension is off: Chromium's frame buffers are mode 0606.
//   - No TCP port of X or VNC; the VNC socket is a 0600 file in the caller's 0700 scratch directory.
//   - Children get an environment made from nothing, stdin from /dev/null, no descriptor of ours, a process group each.
//
// It refuses a /tmp/.X11-unix that is a link, or that another user could rearrange (fault.Denied), and a box without
// the programs (fault.Missing). Everything else that does not work is fault.Failed. Sizes are pixels, keys are X
// keysyms. It trusts its own uid, root and the kernel, no other user of the box, and no client of a view: keysyms and
// sizes may be anything. What a person types is never logged, kept or put into an error.
package display
