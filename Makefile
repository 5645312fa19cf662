.PHONY: check build bench dist dist-check shape
check: ; .ci/run
build: ; CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o lathe ./cmd/lathe
bench: ; go test -run '^$$' -bench . ./...
dist: ; go run ./cmd/dist -o dist
shape: ; go run -C tools ./shape ..
dist-check: ; LATHE_TEST_REPRODUCIBLE=1 go test -count=1 -run TestReproducible -timeout 40m ./cmd/dist
