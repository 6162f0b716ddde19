package serve

// State is where a profile stands. A profile that is not in the service's map is Stopped.
type State string

// The states.
const (
	Stopped  State = "stopped"
	Starting State = "starting"
	Served   State = "served" // a person's browser runs on a display of its own
	Window   State = "window" // a verb on the person's own display runs the browser; the service holds the profile for it
	Stopping State = "stopping"
)

// change is what moves a profile from one state to the next.
type change string

const (
	toServe   change = "serve"  // somebody wants it served
	toLend    change = "lend"   // a verb wants its own window
	isReady   change = "ready"  // the first window is mapped
	hasFailed change = "failed" // it did not start
	toStop    change = "stop"   // somebody wants it stopped
	hasEnded  change = "ended"  // its keeper, or the verb's window, is gone
)

// transitions is the whole machine: what is not here does not happen.
var transitions = map[State]map[change]State{
	Stopped:  {toServe: Starting, toLend: Window},
	Starting: {isReady: Served, hasFailed: Stopping, toStop: Stopping, hasEnded: Stopped},
	Served:   {toStop: Stopping, hasEnded: Stopped},
	Window:   {toStop: Stopping, hasEnded: Stopped},
	Stopping: {toStop: Stopping, isReady: Stopping, hasFailed: Stopping, hasEnded: Stopped},
}

// next is the state after a change; ok is false if the table has no such step.
func next(s State, c change) (State, bool) {
	to, ok := transitions[s][c]
	return to, ok
}
