# The two commands are `make demo` and `make test`; both install what is missing (Debian), build and run.
BUILD ?= build
JOBS ?= $(shell nproc)

.PHONY: all setup building build demo test wheel package package-try abi aarch64 python-sanitize python-others bench reference site sanitize test-sets thread-sanitize random-trees gpu-compile faults interruptions clusters fuzz analyze check format clean
all: build

# What building needs; and what testing, packages and `make format` need beside it.
TOOLS = python3-venv python3-dev clang-format libclang-rt-14-dev
building:
	@tools/setup.sh
setup:
	@tools/setup.sh $(TOOLS)

$(BUILD)/build.ninja: CMakeLists.txt CMakePresets.json | building
	@cmake --preset release -B $(BUILD) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@mv $(BUILD).log $(BUILD)/configure.log
	@grep -A2 "without the report page" $(BUILD)/configure.log || true

build: building $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)

demo: building $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target articula_program example_two_arms_carry
	@tools/demo.sh $(BUILD)/articula $(BUILD)/example_two_arms_carry

test: build
	@tools/setup.sh $(TOOLS) chromium  # which drives the page of reports
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --no-tests=error
	@tools/python.sh test $(BUILD)

# The Python package, in dist/ (docs/python.md).
wheel: setup
	@tools/python.sh wheel

# .deb files (make wheel before: with Python) and a tarball, in dist/; each tried in a bare Debian of its own (as root).
package: setup
	@tools/package.sh make
package-try:
	@tools/package.sh try

# The shared library's functions and types against those of the last release (cmake/abi.txt), where its soname is the same.
abi: setup
	@tools/setup.sh clang-19
	@cmake --preset package > /dev/null && cmake --build build-package -j $(JOBS) --target articula
	@tools/abi.py build-package/libarticula.so

# The library and its core tests for aarch64, cross compiled and run by qemu.
aarch64: setup
	@tools/aarch64.sh $(JOBS)

# Its tests under the address sanitizer; its calls beside Pinocchio, MuJoCo and Drake from PyPI, results and times.
python-sanitize: setup
	@tools/python.sh sanitize
python-others: build
	@tools/python.sh others $(BUILD)

# Every algorithm beside the libraries that Debian has, installed here; --peer FILE.so adds others (bench/peer.hpp).
# make bench ARGUMENTS="--performance docs/performance.md" writes the page.
bench:
	@tools/setup.sh libmujoco-dev libsimbody-dev libdart-dev libdart-external-ikfast-dev liborocos-kdl-dev
	@cmake --preset release -B $(BUILD) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@cmake --build $(BUILD) -j $(JOBS) --target articula_bench
	@$(BUILD)/articula_bench $(ARGUMENTS)

# The API reference, in build/reference/html; a warning is an error.
reference:
	@tools/setup.sh doxygen
	@mkdir -p build/reference && rm -rf build/reference/html
	@doxygen Doxyfile && echo "reference: build/reference/html/index.html"

# README, docs/ and the reference as one site, in build/site/html, checked in Chromium: links, scripts, contrast.
site: reference
	@tools/setup.sh chromium
	@tools/site.sh

# The same tests under the address and undefined-behaviour sanitizers (but those that take memory away, which these
# programs need for themselves); thread-sanitize: all that has threads, under that one.
sanitize: setup
	@cmake --preset asan > /dev/null
	@cmake --build build-asan -j $(JOBS) --target articula_tests mutated_urdf random_trees articula_program
	@ctest --test-dir build-asan -j $(JOBS) --output-on-failure --no-tests=error -E 'example|installed_package|web|Faults|LimitsOfTimeAndMemory'

# The whole test program once for each instruction set that this machine has (cmake/instruction_sets.cmake).
test-sets: setup $(BUILD)/build.ninja
	@cmake -B $(BUILD) -DARTICULA_INSTRUCTION_SETS=all > /dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target articula_tests
	@for set in $$(cat $(BUILD)/instruction_sets.txt); do \
	  if ! echo '{"q": [0, 0]}' | ARTICULA_ISA=$$set $(BUILD)/articula eval double_pendulum mass_matrix > /dev/null 2>&1; then \
	    echo "instruction set $$set: this machine does not have it"; continue; fi; \
	  echo "instruction set $$set:"; \
	  ARTICULA_ISA=$$set $(BUILD)/articula_tests --gtest_brief=1 > $(BUILD)/$$set.log 2>&1 || { cat $(BUILD)/$$set.log; exit 1; }; \
	  tail -n 3 $(BUILD)/$$set.log; done
	@python3 tools/check_layers.py $(BUILD)

thread-sanitize: setup
	@cmake --preset tsan > /dev/null
	@cmake --build build-tsan -j $(JOBS) --target articula_tests articula_program
	@ctest --test-dir build-tsan -j $(JOBS) --output-on-failure --no-tests=error -R 'Threads|AnyThreads|TileAndThread|MonteCarlo|Sharded|EvalOfMany|EvalFormats|ViewCommand|ASignalEndsAnyRunAtOnce'

# The dynamics of 10^5 random mechanisms against a dense computation in long double: some minutes.
TREES ?= 100000
random-trees: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target random_trees
	@$(BUILD)/random_trees $(TREES)

# Every program for GPUs, compiled for sm_80, sm_90 and sm_100 by NVIDIA's run-time compiler (PyPI): no GPU is needed.
gpu-compile: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target articula_gpu_compile
	@tools/gpu_compile.sh $(BUILD) $(JOBS)

# Every call of the system of some commands fails once (make test: a part of them).
faults: build
	@ARTICULA_FAULT_POINTS=1000000 $(BUILD)/articula_tests --gtest_filter='Faults.*'

# Runs of many kinds, stopped at random moments: how long they take to end.
interruptions: build
	@tests/interruptions.py $(BUILD)/articula 1000

# Sharded runs on real engines (Open MPI, Slurm, GNU parallel; Dask, Ray, joblib and mpi4py from PyPI), which are
# installed; then a thousand kills, torn files and full disks.
clusters: build
	@for p in openmpi-bin "slurm-wlm munge" parallel; do \
	  tools/setup.sh $$p || echo "cannot be installed, and its tests are skipped: $$p"; done
	@tools/python.sh clusters $(BUILD)
	@tests/clusters/faults.py $(BUILD)/articula 1000

# Every reader of input, fuzzed under the sanitizers for so many seconds each; then whole commands as long.
FUZZ_SECONDS ?= 60
fuzz: setup
	@cmake --preset fuzz > /dev/null && cmake --build build-fuzz -j $(JOBS) --target fuzzers
	@tools/fuzz.py build-fuzz $(FUZZ_SECONDS)

# clang-tidy (bugprone, cert, concurrency; .clang-tidy) and cppcheck; what they find is an error.
analyze: setup
	@tools/setup.sh clang-tidy-14 cppcheck
	@tools/analyze.sh build-analyze $(JOBS)

check:
	@tools/check_format.sh
	@python3 tools/check_layers.py
	@python3 tools/check_docs.py

format:
	@git ls-files '*.hpp' '*.cpp' | xargs clang-format -i

clean:
	rm -rf build build-*/ dist demo
