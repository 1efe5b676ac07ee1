# Everything that is done to this tree. Each target installs what it lacks, into the tree (.venv,
# node_modules, build) or, for the browser, by apt; downloads are cached in ${XDG_CACHE_HOME:-~/.cache}.

PYTHON ?= python3
NPM ?= npm
export CHROMIUM ?= /usr/bin/chromium
export CHROMEDRIVER ?= /usr/bin/chromedriver
export FIREFOX ?= /usr/bin/firefox-esr

BIN := .venv/bin
NODE_BIN := node_modules/.bin
STAMPS := build/stamps
VERSION := $(shell sed -n 's/^ *"version": "\(.*\)",/\1/p' package.json)
WHEEL := dist/aiogpu-$(VERSION)-py3-none-any.whl
SDIST := dist/aiogpu-$(VERSION).tar.gz
PACKAGE := dist/aiogpu-$(VERSION).tgz
BUNDLE := dist/aiogpu.iife.js
TYPES := dist/types/index.d.ts

PY_SOURCES := $(shell find py/aiogpu -name '*.py' -o -name '*.js' -o -name py.typed)
JS_SOURCES := $(wildcard web/*.js) $(wildcard worker.js) $(shell find py/aiogpu -name '*.js')

VENV := $(STAMPS)/venv
NODE_MODULES := $(STAMPS)/node_modules
PYODIDE := $(STAMPS)/pyodide
BROWSER := $(CHROMIUM) $(CHROMEDRIVER)
SECOND_BROWSER := $(STAMPS)/firefox
HOSTS := $(STAMPS)/hosts

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup check check-python check-imports check-javascript check-tree \
	format test test-unit test-wgsl fuzz-kernels fuzz-namespace fuzz-bridge test-web test-browser \
	test-page test-hosts hosts demo serve wheel bundle types dist release accuracy bench clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

# --- What the rest stands on

setup: $(VENV) $(NODE_MODULES) $(PYODIDE) $(BROWSER) $(SECOND_BROWSER) ## Install every tool, Pyodide and the demo's photograph

$(VENV): requirements-dev.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@mkdir -p $(@D) && touch $@

$(NODE_MODULES): package-lock.json .npmrc
	node -e 'if (parseInt(process.versions.node) < 20) throw new Error("Node 20 or newer is needed")'
	$(NPM) ci --no-progress
	@mkdir -p $(@D) && touch $@

$(PYODIDE): tools/setup_pyodide.py tools/pyodide-wheels.txt $(VENV) $(NODE_MODULES)
	$(BIN)/python tools/setup_pyodide.py
	@mkdir -p $(@D) && touch $@

# Other people's hosts: JupyterLite's builder in a venv of its own, and other Pyodides.
$(HOSTS): requirements-hosts.txt tools/hosts.py tools/jupyterlite-wheels.txt $(PYODIDE)
	$(PYTHON) -m venv --clear build/hosts/venv
	build/hosts/venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	$(BIN)/python tools/hosts.py
	@mkdir -p $(@D) && touch $@

$(BROWSER) &:
	@tools/install_packages.sh chromium chromium-driver

$(SECOND_BROWSER): tools/install_packages.sh # with lavapipe, a software Vulkan, for its WebGPU
	@tools/install_packages.sh firefox-esr mesa-vulkan-drivers
	@mkdir -p $(@D) && touch $@

# --- Checks

check: check-python check-imports check-javascript check-tree ## Lint, formats, types, import directions, sizes, versions

check-python: $(VENV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

check-imports: $(VENV)
	PYTHONPATH=py $(BIN)/lint-imports --no-logo

check-javascript: $(NODE_MODULES)
	$(NODE_BIN)/tsc --project tsconfig.json
	$(NODE_BIN)/tsc --project tsconfig.worker.json
	$(NODE_BIN)/eslint .
	$(NODE_BIN)/prettier --check --log-level=warn .

check-tree: $(VENV)
	$(BIN)/python tools/check_sizes.py
	$(BIN)/python tools/check_versions.py
	PYTHONPATH=py $(BIN)/python tools/backend_docs.py --check
	PYTHONPATH=py $(BIN)/python tools/accuracy_docs.py --check
	PYTHONPATH=py $(BIN)/python tools/ops_docs.py --check
	$(BIN)/python tools/hosts_docs.py --check
	$(BIN)/python tools/protocol_docs.py --check

format: $(VENV) $(NODE_MODULES) ## Write every file in the project's format
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(NODE_BIN)/prettier --write --log-level=warn .

# --- Tests

test: test-unit test-wgsl test-web test-browser test-page test-hosts ## Run every test

test-unit: $(VENV) ## The Python parts, on CPython
	$(BIN)/pytest tests/unit

test-wgsl: $(VENV) $(NODE_MODULES) $(BROWSER) $(SECOND_BROWSER) ## Every shader through a WGSL compiler, numerics on both drivers
	$(BIN)/pytest tests/wgsl

fuzz-kernels: setup ## Two thousand random kernels: the GPU against the simulator
	AIOGPU_PROGRAMS=2000 $(BIN)/pytest tests/browser/test_kernel_fuzz.py

fuzz-namespace: setup ## Every public function against NumPy, over 300 calls that Hypothesis draws
	AIOGPU_CALLS=300 $(BIN)/pytest tests/browser/test_namespace.py

fuzz-bridge: setup $(WHEEL) $(BUNDLE) ## Messages of any shape: 20000 on each side, 3000 on a real port
	AIOGPU_FUZZ=20000 $(BIN)/pytest tests/unit/server/test_fuzz.py
	AIOGPU_FUZZ=20000 node --test --test-timeout=1800000 tests/web/fuzz.test.mjs
	AIOGPU_FUZZ=3000 $(BIN)/pytest tests/page/test_bridge_fuzz.py

test-web: $(NODE_MODULES) ## The JavaScript client, in Node
	node --test --test-timeout=60000 tests/web/*.test.mjs

test-browser: setup ## In Pyodide in Chromium, on WebGPU
	$(BIN)/pytest tests/browser

test-page: setup $(WHEEL) $(BUNDLE) ## The pages, in Chromium
	$(BIN)/pytest tests/page

test-hosts: setup $(HOSTS) $(WHEEL) ## A sample of the hosts: JupyterLite, PyScript, Node
	$(BIN)/pytest tests/hosts -m "not whole"

hosts: setup $(HOSTS) $(WHEEL) ## Every host and version; build/hosts/results, and docs/hosts.md of it
	$(BIN)/pytest tests/hosts
	$(BIN)/pytest tests/page/test_firefox.py
	$(BIN)/pytest --dist-dir=build/hosts/no-jspi tests/browser \
		-k "not sync_reads and not waiting_on_the_stack"
	$(BIN)/python tools/hosts_docs.py

# --- What people run

demo: setup $(WHEEL) $(BUNDLE) ## Run the main job in headless Chromium; pictures in build/demo
	$(BIN)/python tools/demo.py

serve: $(PYODIDE) $(WHEEL) $(BUNDLE) ## Serve the pages, to be seen in your own browser
	$(BIN)/python tools/serve.py

accuracy: $(VENV) $(NODE_MODULES) $(BROWSER) $(SECOND_BROWSER) ## Measure the elementary functions again; docs/accuracy.md
	PYTHONPATH=py $(BIN)/python tools/accuracy.py

bench: setup $(WHEEL) $(BUNDLE) ## Measure what the graph and the bridge cost; build/bench.json
	$(BIN)/python tools/bench.py

# --- What is published

wheel: $(WHEEL) ## Build the wheel
$(WHEEL): $(VENV) $(PY_SOURCES) pyproject.toml package.json LICENSE README.md
	$(BIN)/python -m hatchling build --target wheel --directory $(@D)
	@touch $@

bundle: $(BUNDLE) ## Build dist/aiogpu.js, dist/aiogpu.iife.js and dist/worker.js
$(BUNDLE): $(NODE_MODULES) $(JS_SOURCES) tools/bundle.mjs
	node tools/bundle.mjs

types: $(TYPES) ## Write the client's type declarations
$(TYPES): $(NODE_MODULES) $(JS_SOURCES) web/using.d.ts tsconfig.json tsconfig.types.json
	rm -rf dist/types
	$(NODE_BIN)/tsc --project tsconfig.types.json
	cp web/using.d.ts dist/types

$(SDIST): $(VENV) $(PY_SOURCES) pyproject.toml package.json LICENSE README.md CHANGELOG.md
	$(BIN)/python -m hatchling build --target sdist --directory $(@D)
	@touch $@

$(PACKAGE): $(WHEEL) $(BUNDLE) $(TYPES) package.json LICENSE README.md
	@find dist -name '*.whl' ! -path $(WHEEL) -delete # of other versions: package.json has *.whl
	$(NPM) pack --silent --pack-destination $(@D)

dist: $(PACKAGE) $(SDIST) ## Build what is published: wheel, sdist and npm package; print their sizes
	@$(BIN)/python tools/sizes.py

release: check-tree dist ## Check that what would be published is right; publishes nothing
	@$(BIN)/python tools/release.py

clean: ## Remove everything built (not the cache)
	rm -rf build dist
