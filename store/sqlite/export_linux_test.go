package sqlite

// BusyTime is how long a process waits for others.
const BusyTime = busyTime

// OthersWait says whether a process waits for the database.
func OthersWait(path string) bool {
	t := openTurns(path)
	defer t.close()
	return t.othersWait()
}
