# What one does with this tree. It needs Go, git and bash; the tests also curl,
# which runs the commands that the documentation shows, and strace, which sees
# what a program starts and reaches, bubblewrap, a wall around commands, and
# Node.js with npm, on which the servers and clients of others run that ours are
# tried with.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

BIN := bin/roster

# How long each fuzz target runs.
FUZZTIME ?= 20s

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

.PHONY: build run test need page ui unit race browser oracle fuzz bench long pictures lint generate check-generated darwin clean

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o $(BIN) ./cmd/roster
	@echo "$(BIN): $$(wc -c < $(BIN)) bytes"

# Asks a profile of the example workspace about its files. Without a key or a
# local model it is answered by builtin/demo, which is not a language model:
#   make run MODEL=ollama/qwen3 QUESTION="…"
run: build
	@scripts/run $(BIN) "$(MODEL)" "$(QUESTION)"

# Everything that must hold, from the fresh clone. Go fetches its modules.
test: need page unit race browser oracle fuzz

need:
	@scripts/need git curl zstd strace bwrap=bubblewrap tmux chromium initdb=postgresql node=nodejs npm
	@scripts/peers
	@scripts/ui need
	@test -e ../shared/corpus || echo "SKIPPED: the tests on real files, for there is no ../shared/corpus"

# The web page's own tests, and that what is embedded is what its sources make.
page:
	scripts/ui check

# Makes the web page anew. Go builds what is committed of it, without Node.js.
ui:
	scripts/ui build

# A browser takes the processors before others, who have to hear of each other in time:
# what it tries is not tried beside them.
PACKAGES = $(shell go list ./... | grep -v '/internal/uitest$$')

# The server is killed 50 times here, and 25 times under the race detector.
unit:
	ROSTER_KILLS=50 go test -timeout=30m $(PACKAGES)

# A program that looks for races waits a second at its end, as each helper would
# that starts a command.
race:
	GORACE=atexit_sleep_ms=0 go test -race -timeout=30m $(PACKAGES)

# The web page as people use it.
browser:
	go test -race -timeout=30m ./internal/uitest

# Our wire protocols against the providers' own libraries and servers of others,
# in a module apart.
oracle:
	cd model/oracle && go test ./...

fuzz:
	scripts/fuzz $(FUZZTIME)

bench:
	go test -run '^$$' -bench . -benchmem ./...

# What takes too long for every change: longer fuzzing, a server that is killed
# more often and one under a full load, and the tests many times over, with the
# processors they would have elsewhere.
long:
	scripts/fuzz 10m
	ROSTER_KILLS=500 go test -timeout=1h -run TestServerKilledAtRandom -v ./cmd/roster
	ROSTER_RIG=5000,50,10 go test -timeout=1h -run TestRigLosesNothing -v ./cmd/roster
	ROSTER_LOAD=10m go test -timeout=1h -run TestServerUnderLoad -v ./cmd/roster
	GORACE=atexit_sleep_ms=0 go test -race -count=5 -cpu=1,2,4 -timeout=3h ./...

# A picture of each page of the web page, for the documentation.
pictures:
	go test -count=1 -run '^TestPages$$' ./internal/uitest -args -pictures $(CURDIR)/docs/screens

lint:
	@files=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$files" ]; then echo "not formatted: run gofmt -w on"; echo "$$files"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	@scripts/vulncheck $(GOVULNCHECK)

generate:
	go generate ./...

# The generated files are what generate makes of the source.
check-generated:
	go test -count=1 -run "^TestReference$$" ./cmd/roster

darwin:
	GOOS=darwin go build ./...
	GOOS=darwin go vet ./...

clean:
	rm -rf bin dist
