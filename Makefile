# Everything is made here. `make help` lists the targets; each installs what it needs (Debian packages as root, npm, Go modules).
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

RUN_PACKAGES := chromium xvfb openbox tigervnc-scraping-server x11vnc fonts-dejavu-core
TEST_PACKAGES := xdotool x11-apps x11-utils xterm xinput acl iproute2 strace websockify procps passwd
GO_TEST := go test -p 2 -timeout 30m

.PHONY: help build demo test test-long bench fuzz tools test-tools page clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

build: page ## bin/5dive, with the viewer page in it
	go build -trimpath -ldflags "-X main.stamp=$$(git describe --tags --always --dirty 2>/dev/null || true)" -o bin/5dive ./cmd/5dive

demo: tools build ## the main job on this machine; AUTO=1 plays the person and exits
	go build -o bin/demo ./test/demo
	bin/demo $(if $(AUTO),-auto) $(if $(SHOTS),-shots $(SHOTS))

test: tools test-tools build ## every test, and the demo playing the person; a skipped layer is a failure when CI=true
	test/check
	test/go-test $(GO_TEST) ./...
	go build -o bin/demo ./test/demo
	bin/demo -auto

test-long: tools test-tools build ## with the real waits (36 s and more)
	test/go-test $(GO_TEST) -tags long ./...

bench: tools test-tools build ## each figure beside its peer or limit
	go run ./test/bench/bridge
	go run ./test/bench/screen

fuzz: ## a minute on each parser
	test/fuzz

tools: ## Debian packages that the product needs
	test/packages $(RUN_PACKAGES)
	@[ -d /tmp/.X11-unix ] || install -d -m 1777 /tmp/.X11-unix

test-tools:
	test/packages $(TEST_PACKAGES)

page: viewer/page/dist/assets/page.js ## the viewer page, with noVNC from npm

viewer/page/dist/assets/page.js: viewer/page/package-lock.json viewer/page/build.js $(wildcard viewer/page/src/*)
	command -v npm >/dev/null || test/packages nodejs npm
	cd viewer/page && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

clean: ## what was built
	rm -rf bin viewer/page/node_modules viewer/page/dist/assets viewer/page/dist/index.html*
