# The front door: `make demo` ends with a picture, `make test` with a green line. CMake does the work.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
PRESETS := release scalar clang debug asan-wide tsan coverage

# Debian packages
BUILD_PACKAGES := gcc libc6-dev cmake ninja-build pkg-config liblua5.4-dev libhdf5-dev libjansson-dev libpng-dev \
	libembree-dev
TEST_PACKAGES := $(BUILD_PACKAGES) python3 python3-paraview hdf5-tools ffmpeg clang libclang-rt-14-dev
PACKAGES := $(TEST_PACKAGES) g++ libopenvdb-dev python3-openvdb python3-h5py python3-matplotlib xvfb xauth blender llvm clang-format gcovr

.DEFAULT_GOAL := build
.PHONY: build help deps deps-build deps-demo deps-test deps-page deps-usd usd demo test test-page check-all bench validate faults fuzz coverage docs format format-check clean

build: ## the release build, in build/release
	@$(call configure,release)
	@$(call build,release,all)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: ## install the Debian packages that any of these needs
	@$(call need,$(PACKAGES))

deps-build:
	@$(call need,$(BUILD_PACKAGES))

deps-demo:
	@$(call need,$(BUILD_PACKAGES) ffmpeg)

deps-test:
	@$(call need,$(TEST_PACKAGES))

usd: ## usd-core from PyPI into build/usd: with it the tests open usda files in USD itself
	@$(call need,python3-venv)
	@python3 -m venv build/usd && build/usd/bin/pip install --quiet usd-core

deps-usd:
	@[[ -d $$(echo build/usd/lib/python3*/site-packages/pxr) ]] || $(MAKE) usd

demo: deps-demo ## let sand run through an hourglass; ends with a picture and a movie in out/demo
	@$(call configure,release)
	@$(call build,release,repose-command)
	@mkdir -p out/demo
	build/release/bin/repose run hourglass -o out/demo/hourglass --overwrite
	build/release/bin/repose render out/demo/hourglass --frame 20 --size 600x800 -o out/demo/hourglass.png
	build/release/bin/repose render out/demo/hourglass --movie --every 2 --size 360x480 --samples 8 -o out/demo/hourglass.mp4
	@echo "The picture is $(CURDIR)/out/demo/hourglass.png, the movie $(CURDIR)/out/demo/hourglass.mp4"

test: deps-test ## what must pass before a commit
	@$(start)
	@$(call step,layers,tools/layers --check)
	@$(call build_step,quick,all)
	@$(call step,quick: tests,$(in_memory) ctest --preset quick -LE blender)
	@$(call build_step,asan,unit_tests)
	@$(call step,asan: unit tests,$(in_memory) ctest --preset asan -L unit -E "unit.(bits|settle)")
	@$(call finish,tests)

# Node's package is left alone where another one brings npm along
deps-page: deps-test
	@$(call need,chromium)
	@command -v npm >/dev/null || { $(call need,nodejs npm); }
	@[[ -d build/page/node_modules/playwright-core ]] || \
		{ mkdir -p build/page; npm install --prefix build/page --no-audit --no-fund --silent playwright-core@1.48; }

test-page: deps-page ## the page of repose view in Chromium; screenshots are left in build/page/shots
	@$(call configure,release)
	@$(call build,release,repose-command)
	@tests/tools/test_page.py build/release/bin/repose --shots build/page/shots $(ARGS)

check-all: deps deps-page deps-usd ## every preset with every test
	@$(start)
	@$(call step,layers,tools/layers --check)
	@$(foreach p,$(PRESETS),$(call build_step,$(p),all); $(call step,$(p): tests,$(if $(filter release,$(p)),REPOSE_LONG_TESTS=1) ctest --preset $(p));) true
	@$(call sweep,50 kills and 20 stops,tests/tools/test_resume.py build/release/bin/repose --kills 50 --stops 20)
	@$(call sweep,failing calls,tests/tools/test_faults.py build/release/bin/repose build/release/tests/tools/failing-calls.so)
	@$(call sweep,closed descriptors,tests/tools/test_robust.py build/release/bin/repose Descriptors)
	@$(call sweep,hostile names,tests/tools/test_robust.py build/release/bin/repose Words)
	@$(call sweep,hostile requests,REPOSE_LONG_TESTS=1 tests/tools/test_view.py build/release/bin/repose Crowd)
	@$(call sweep,mesh fuzz,tests/fuzz/run mesh 60)
	@$(call sweep,thin colliders,REPOSE_SWEEP=all build/release/tests/physics/test_thin)
	@$(call step,tutorials,tests/tools/test_tutorials.py build/release/bin/repose)
	@$(call finish,presets)

bench: deps-build ## time steps of many sizes; ARGS= goes to repose bench, such as ARGS=--quick
	@$(call configure,release)
	@$(call build,release,repose-command)
	@build/release/bin/repose bench $(ARGS)

validate: deps-build ## compare with theory, experiments and other programs; ARGS=--quick takes minutes
	@$(call configure,release)
	@$(call build,release,repose-command)
	@build/release/bin/repose validate -o out/validation $(ARGS)

faults: deps-test ## seed faults one by one and see which test catches each; takes an hour
	@tests/faults/run.py --jobs $(JOBS)

SECONDS ?= 600
fuzz: deps ## throw wrong scenes, frames, messages and meshes at their readers, SECONDS= each (600)
	@$(call configure,release)
	@$(call build,release,test_support repose)
	@tests/fuzz/run scene $(SECONDS)
	@tests/fuzz/run frame $(SECONDS)
	@tests/fuzz/run view $(SECONDS)
	@tests/fuzz/run mesh $(SECONDS)

coverage: deps ## which lines of src/ the tests reach
	@$(start)
	@$(call build_step,coverage,all)
	@find build/coverage -name '*.gcda' -delete
	@$(call step,coverage: tests,ctest --preset coverage)
	@gcovr --root . --filter src/ --exclude-directories '.*CompilerIdC' build/coverage

# pages that are made from tables in the code, and what prints each
PAGES := \
	docs/scene.md=--print-scene-reference \
	docs/measure.md=--print-measure-reference \
	docs/methods.md=--print-methods-reference

docs: deps-build ## make the pages anew that come from tables in the code
	@$(call configure,release)
	@$(call build,release,repose-command)
	@for page in $(PAGES); do \
		build/release/bin/repose $${page#*=} >build/page.md; \
		mv build/page.md $${page%%=*}; \
	done

SOURCES = $(shell find include src apps tests bench examples -name '*.[ch]' -o -name '*.cpp' 2>/dev/null)

format: ## put the sources into the project's layout
	@clang-format -i $(SOURCES)

format-check: ## name the files that `make format` would change
	@bad=0; for f in $(SOURCES); do clang-format $$f | cmp -s - $$f || { echo $$f; bad=1; }; done; exit $$bad

clean: ## remove what was built, and what the demo and make validate made
	rm -rf build out

# $(call need,packages): install those that are missing; without a word when none is
define need
	if ! command -v dpkg-query >/dev/null; then \
		echo "No dpkg here, so nothing was installed. Needed, by their Debian names: $(1)" >&2; exit 0; \
	fi; \
	missing=$$(for p in $(1); do \
		dpkg-query -W -f='$${db:Status-Status}\n' $$p 2>/dev/null | grep -qx installed || echo $$p; \
	done); \
	if [[ -n $$missing ]]; then \
		echo "Installing" $$missing; \
		run="env DEBIAN_FRONTEND=noninteractive"; [[ $$(id -u) == 0 ]] || run="sudo $$run"; \
		log=$$(mktemp); \
		if ! { $$run apt-get update && $$run apt-get install -y --no-install-recommends $$missing; } >$$log 2>&1; then \
			cat $$log >&2; echo "Could not install" $$missing >&2; exit 1; \
		fi; \
		rm $$log; \
	fi
endef

# $(call configure,preset), $(call build,preset,targets): progress on a terminal, else silent
define configure
	command -v cmake >/dev/null || { echo "cmake is missing: make deps installs what is needed" >&2; exit 1; }; \
	said=$$(cmake --preset $(1) 2>&1) || { echo "$$said" >&2; exit 1; }
endef
build = cmake --build --preset $(1) -j $(JOBS) --target $(2) -- $(if $(MAKE_TERMOUT),,--quiet)

# $(call step,name,command): one line when it works; else the end of what it said, passed tests left out
define step
	mkdir -p build/log; log="build/log/$(subst $() ,-,$(subst :,,$(1))).log"; began=$$(date +%s); \
	printf '%-24s' "$(1)"; \
	if { $(2); } >"$$log" 2>&1; then \
		echo "ok, $$(sed -n 's/.*tests passed, 0 tests failed out of \(.*\)/\1 tests, /p' "$$log")$$(( $$(date +%s) - began )) s"; \
	else \
		echo "$(call red,FAILED)"; grep -v -e ' Passed ' -e '^ *Start ' "$$log" | tail -n 200 || true; \
		echo "$(call red,$(1) FAILED) (all of it: $$log)"; exit 1; \
	fi
endef
# $(call sweep,name,command): a step that also shows the last lines in which it counted something
sweep = $(call step,$(1),$(2)); grep -aE '^([0-9]+|Done) ' "build/log/$(subst $() ,-,$(1)).log" | tail -n 2 | sed 's/^/    /'
build_step = $(call step,$(1): build,cmake --preset $(1) >/dev/null && cmake --build --preset $(1) -j $(JOBS) --target $(2) -- --quiet)

# Tests write and sync thousands of small files: into memory, where there is room for 4 GB of them
in_memory = $(shell [[ $$(df --output=avail /dev/shm 2>/dev/null | tail -n 1) -gt 4000000 ]] && echo TMPDIR=/dev/shm)

start = mkdir -p build/log; date +%s >build/log/start
finish = echo "$(call green,All $(1) passed) in $$(( $$(date +%s) - $$(cat build/log/start) )) s."

# colour and progress on a terminal only
ESC := $(shell printf '\033')
red = $(if $(MAKE_TERMOUT),$(ESC)[31m$(1)$(ESC)[0m,$(1))
green = $(if $(MAKE_TERMOUT),$(ESC)[32m$(1)$(ESC)[0m,$(1))
