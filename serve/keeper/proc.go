package keeper

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// process is what /proc tells of one.
type process struct {
	zombie          bool
	parent, session int
	uid             int
}

// processes lists every pid that /proc shows.
func processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// look reads fields 3, 4 and 6 of /proc/PID/stat (state, parent, session); the name before them may hold spaces and brackets.
func look(pid int) (p process, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return p, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	var st syscall.Stat_t
	if len(fields) < 4 || syscall.Stat(dir, &st) != nil {
		return p, false
	}
	p.zombie = string(fields[0]) == "Z"
	p.parent, _ = strconv.Atoi(string(fields[1]))
	p.session, _ = strconv.Atoi(string(fields[3]))
	p.uid = int(st.Uid)
	return p, true
}
