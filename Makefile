# Makefile - the front door. `make demo` shows what Strobe does, `make test` proves it.
# The work itself is CMake's; this file installs what is needed and names the common ways in.
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
# tests at once: many of them wait as much as they work
TESTS  ?= $(shell expr $(JOBS) + 1)
ARM64   = -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/arm64.cmake -DSTROBE_ARM64_ROOT=$(CURDIR)/build-arm64/root

.PHONY: all build wheel test test-python test-peers test-viewer test-sampling test-containers test-model test-power test-arm64 test-uprobes fuzz page demo install bench format check-format asan tsan deps deps-build deps-test deps-bench clean

all: build

deps: ## install the system packages of a target: make deps FOR=build|test|bench (default: test)
	@scripts/deps $(or $(FOR),test)

deps-build deps-test deps-bench:
	@scripts/deps $(@:deps-%=%)

build: ## the release tree in build/; what is missing is installed by make deps
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DSTROBE_TESTS=OFF >/dev/null
	@cmake --build build -j $(JOBS)

# Tests count what programs emit: samples would be among it. Those of sampling itself ask for them.
test test-python test-peers test-viewer test-containers test-power: export STROBE_SAMPLE = 0
test: deps-test ## everything that must hold, sanitizer builds included; what takes longer has a test-… of its own
	@cmake --preset release -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS)
	@cd build && ctest --output-on-failure -LE full -j $(TESTS)
	@$(MAKE) --no-print-directory asan tsan

wheel: deps-build ## the wheels in dist/: strobe, tracy_client, strobe-tracy
	@python3 python/backend/strobe_backend.py dist

test-python: deps-test ## the same wheel files on every CPython here, and in systems with nothing but Python
	@cmake --preset release -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS)
	@python3 -B tests/wheel/test_python.py build

test-peers: deps-test ## every version of the Tracy clients that can be had; fetches some GB, takes a while
	@cmake --preset release -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS)
	@STROBE_ALL_PEERS=1 python3 -B tests/peers/test_peers.py build -v
	@STROBE_ALL_PEERS=1 python3 -B tests/peers/test_loaded.py build -v

test-viewer: deps-test ## all tests of the viewer
	@cmake --preset release -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS)
	@cd build && ctest --output-on-failure -R '^viewer/'; status=$$?; node ../tests/viewer/gallery.mjs viewer; exit $$status
	@node tests/viewer/test_same.mjs build/bin/strobe 1000 7 build/viewer/same/*.strobe
	@python3 -B tests/viewer/record_over.py build/bin/strobe build/bin/bench_jobs build/viewer/recorded-20m.strobe 20000000
	@STROBE_VIEWS=2000 node tests/viewer/test_drawn.mjs build/bin/strobe build/viewer/recorded-20m.strobe
	@node tests/viewer/test_lists.mjs build/bin/strobe build/viewer/recorded-20m.strobe
	@cmake --preset asan -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build-asan -j $(JOBS) --target fuzz_ask
	@build-asan/bin/fuzz_ask tests/fuzz/seeds/ask 1000000

test-containers: deps-test ## every shape of containers, ten runs of eight threads each: one table, emitted = stored + dropped
	@cmake --preset release -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS)
	@STROBE_CONTAINER_ROUNDS=10 /usr/bin/python3 -B tests/containers/test_containers.py build Shapes

test-sampling: deps-test ## as root: planted causes as pictures (build/causes/shots), what is shown in which environment, Strobe beside perf, py-spy, heaptrack and memray
	@cmake --preset release -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS)
	@cd build && ctest --verbose -L full -R '^causes/'

test-model: deps-test ## larger searches of the ring protocol's models than make test's
	@tests/model/run_models.py --large

test-power: deps-test ## 10,000 power cuts: what was synced is there, what is missing is named
	@cmake --preset release -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build -j $(JOBS)
	@/usr/bin/python3 -B tests/power/test_power.py build 10000

fuzz: deps-test ## every input from outside, with libFuzzer, in turns: make fuzz TIME=10m (s, m, h; over all targets), RUNS=1000000 (until each has so many). tests/fuzz/README.md
	@JOBS=$(JOBS) RUNS=$(RUNS) tests/fuzz/run $(or $(TIME),10m) $(TARGETS)

test-uprobes: ## the kernel's probes, in a machine of its own with Debian's kernel (tests/sample/uprobes); downloads it and qemu
	@nice tests/sample/uprobes build

test-arm64: deps-test ## all tests that can run as arm64 code: by qemu-user, in an emulated machine, the wheel in its Python; downloads an arm64 Debian: docs/arm64.md
	@for tool in aarch64-linux-gnu-g++ qemu-aarch64-static qemu-system-aarch64; do command -v $$tool >/dev/null || { echo "$$tool is not installed"; exit 1; }; done
	@tests/arm64/root build-arm64/root
	@cmake -G Ninja -B build-arm64 $(ARM64) -DCMAKE_BUILD_TYPE=Release -DSTROBE_WERROR=ON -DSTROBE_TESTS=ON >/dev/null
	@cmake --build build-arm64 -j $(JOBS)
	@CMAKE_ARGS="$(ARM64)" python3 -B python/backend/strobe_backend.py build-arm64/dist >build-arm64/wheel.log 2>&1 || { tail -n 20 build-arm64/wheel.log; exit 1; }
	@tests/arm64/wheel build-arm64/root build-arm64/dist tests/wheel/suite
	@python3 -B tests/arm64/system.py build-arm64 build-arm64/root
	@cd build-arm64 && ../tests/arm64/inside $(CURDIR)/build-arm64/root ctest --output-on-failure -j $(JOBS) --timeout 1200 -R "$$(python3 -B ../tests/arm64/choice.py . user)"
	@/usr/bin/python3 -B tests/arm64/test_smoke.py build count
	@python3 -B tests/arm64/choice.py build-arm64 no

tsan: TARGET = threaded
asan tsan:
	@cmake --preset $@ -DSTROBE_TESTS=ON -DSTROBE_MODULES_FROM=$(if $(wildcard build/page/engine.wasm.gz),$(CURDIR)/build) >/dev/null
	@cmake --build build-$@ -j $(JOBS) --target $(or $(TARGET),all)
	@cd build-$@ && ctest --output-on-failure -L $@ -j $(TESTS)

page: deps-build build ## the viewer's page alone, for any web server: make page OUT=build/static
	@scripts/make-page build $(or $(OUT),build/static)

demo: deps-build build ## record the demo, show its zones, open it in the viewer (no terminal: as HTML)
	@echo "A Python program, its native code, and kernels on the cores of a simulated device:"
	@scripts/record-demo . build build/demo.strobe
	@build/bin/strobe stats --limit 16 build/demo.strobe
	@echo
	@echo "And a film, rendered by several processes in C++ and C:"
	@build/bin/strobe record -o build/demo-film.strobe -- build/bin/strobe-demo
	@build/bin/strobe stats --limit 12 build/demo-film.strobe
	@echo
	@echo "The traces are build/demo.strobe and build/demo-film.strobe. Type next:"
	@echo "    build/bin/strobe info build/demo.strobe                          what is in it, what was lost, what it cost"
	@echo "    build/bin/strobe csv build/demo.strobe | less                    every zone"
	@echo "    build/bin/strobe export build/demo.strobe -o build/demo.json    for Perfetto and chrome://tracing"
	@if [ -t 0 ] && [ -t 1 ]; then \
	    echo "    Ctrl-C ends the viewer, which opens now."; \
	    build/bin/strobe view build/demo.strobe; \
	else \
	    build/bin/strobe export --to html -o build/demo.html build/demo.strobe; \
	fi

bench: deps-bench build ## measure the claims of bench/README.md into bench/history; takes an hour and more. Then: bench/fill
	@cmake --build build -j $(JOBS) --target bench
	@bench/run

install: build
	@cmake --install build --prefix $(PREFIX)

check-format: ## what clang-format would change; the test tree/format
	@python3 -B tests/format.py .

format:
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format -i

clean:
	@rm -rf build build-asan build-tsan build-arm64 build-fuzz dist
