package telemetry

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process reads what the Go runtime and the system say of this process, under the names
// that Prometheus' own libraries give it.
func process(begun time.Time) []Gauge {
	samples := []metrics.Sample{
		{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}, {Name: "/sched/gomaxprocs:threads"},
	}
	metrics.Read(samples)
	value := func(i int) float64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return float64(samples[i].Value.Uint64())
	}
	gauges := []Gauge{
		{Name: "go_goroutines", Help: "Goroutines that there are.", Value: value(0)},
		{Name: "go_memstats_heap_alloc_bytes", Help: "Bytes of the heap that are in use.", Value: value(1)},
		{Name: "go_memstats_sys_bytes", Help: "Bytes that were taken from the system.", Value: value(2)},
		{Name: "go_gc_cycles_total", Help: "Collections of the heap.", Counts: true, Value: value(3)},
		{Name: "go_sched_gomaxprocs_threads", Help: "Threads that may run Go code at once.", Value: value(4)},
		{Name: "process_start_time_seconds", Help: "When the process began, in seconds since 1970.", Value: float64(begun.UnixMilli()) / 1000},
	}
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
		gauges = append(gauges, Gauge{Name: "process_cpu_seconds_total", Help: "Time of processors that was used.", Counts: true, Value: cpu.Seconds()})
	}
	if rss, ok := resident(); ok {
		gauges = append(gauges, Gauge{Name: "process_resident_memory_bytes", Help: "Memory that is in RAM.", Value: rss})
	}
	return gauges
}

// resident is how much memory is in RAM, where the system says so in a file.
func resident() (bytes float64, ok bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()), err == nil
}
