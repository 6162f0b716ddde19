package serve

import (
	"testing"
	"time"
)

func TestCrashBackOffEnds(t *testing.T) {
	r := &run{}
	now := time.Unix(1000, 0)
	for i, want := range []time.Duration{1, 2, 4, 8, 16} {
		wait, ok := r.crashed(now.Add(time.Duration(i) * time.Second))
		if !ok || wait != want*time.Second {
			t.Errorf("crash %d: wait %v, %t; want %v s", i+1, wait, ok, want)
		}
	}
	if _, ok := r.crashed(now.Add(10 * time.Second)); ok {
		t.Error("the sixth crash in ten minutes was followed by another start")
	}
}

func TestCrashesOfLongAgoDoNotCount(t *testing.T) {
	r := &run{}
	now := time.Unix(1000, 0)
	for i := range 20 {
		if wait, ok := r.crashed(now.Add(time.Duration(i) * 11 * time.Minute)); !ok || wait != time.Second {
			t.Fatalf("crash %d after 11 quiet minutes: wait %v, %t", i, wait, ok)
		}
	}
}
