package offline

import (
	"hash/fnv"
	"strconv"

	"github.com/rosterrun/roster/model"
)

// CallID returns an id for the nth tool call that answers the request. It is
// the same whenever this point of this conversation is answered, differs from
// the ids of all other points, and is short enough for every provider.
func CallID(r *model.Request, n int) string {
	h := fnv.New64a()
	if last := len(r.Messages) - 1; last >= 0 {
		h.Write([]byte(r.Messages[last].ID))
	}
	return "call_" + strconv.FormatUint(h.Sum64(), 36) + "_" + strconv.Itoa(len(r.Messages)) + "_" + strconv.Itoa(n)
}
