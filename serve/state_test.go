package serve

import (
	"slices"
	"testing"
)

// TestTransitions holds the whole machine: every state meets every change, and what is not listed here must not happen.
func TestTransitions(t *testing.T) {
	states := []State{Stopped, Starting, Served, Window, Stopping}
	changes := []change{toServe, toLend, isReady, hasFailed, toStop, hasEnded}
	want := map[State]map[change]State{
		Stopped:  {toServe: Starting, toLend: Window},
		Starting: {isReady: Served, hasFailed: Stopping, toStop: Stopping, hasEnded: Stopped},
		Served:   {toStop: Stopping, hasEnded: Stopped},
		Window:   {toStop: Stopping, hasEnded: Stopped},
		Stopping: {toStop: Stopping, isReady: Stopping, hasFailed: Stopping, hasEnded: Stopped},
	}
	for _, s := range states {
		for _, c := range changes {
			to, ok := next(s, c)
			expected, listed := want[s][c]
			if ok != listed || to != expected {
				t.Errorf("%s on %s: have %q, %t; want %q, %t", s, c, to, ok, expected, listed)
			}
		}
	}
	for s := range transitions {
		if !slices.Contains(states, s) {
			t.Errorf("state %s is in no list", s)
		}
	}
}

// TestEveryStateEnds: whatever state a profile is in, the end of its keeper leads to stopped.
func TestEveryStateEnds(t *testing.T) {
	for s := range transitions {
		if s == Stopped {
			continue
		}
		if to, ok := next(s, hasEnded); !ok || to != Stopped {
			t.Errorf("%s does not end", s)
		}
	}
}
