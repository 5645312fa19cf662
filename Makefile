.PHONY: check build bench
check: ; .ci/run
build: ; CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o lathe ./cmd/lathe
bench: ; go test -run '^$$' -bench . ./...
