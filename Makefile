# Every target sets up what it needs: Python 3.11+ and make are enough, root is not needed.
# Overridable: VENV=dir  PYTHON=interpreter  JOBS=n  PYTEST_ARGS="-k name"

VENV        ?= .venv
PYTHON      ?=
JOBS        ?= auto
PYTEST_ARGS ?=

BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
SERVES := $(VENV)/.serves
SERVED := server,remote,llm,mcp,encryption,postgres,redis,neo4j
CREWAI := $(VENV)-crewai
EXTRA  := engine or browser or framework or slow

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup weights lint format test test-all test-extra serve screenshots clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## create the virtual environment and install into it

# Tries each interpreter rather than looking for its name: a version manager's shim may not run.
$(BIN)/python:
	@for python in $(or $(PYTHON),python3.11 python3.12 python3.13 python3 python); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  echo "Creating $(VENV) with $$("$$python" --version)"; \
	  "$$python" -m venv $(VENV) && exit 0; \
	  rm -rf $(VENV); echo "$$python cannot create a virtual environment" >&2; exit 1; \
	done; \
	echo "Recollect needs Python 3.11 or newer$(if $(PYTHON),; $(PYTHON) is not,: install it or pass PYTHON=/path/to/python)." >&2; \
	exit 1

# What serving needs, which is a fraction of what the tests do.
$(SERVES): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Recollect into $(VENV): this takes a minute or two, and happens once."
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[$(SERVED)]'
	@touch $@

# And everything else; after the other, as they install into one place.
$(READY): $(SERVES)
	@echo "Installing what tests and benchmarks need into $(VENV): this takes some minutes, and happens once."
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[$(SERVED),milvus,bench,engines,frameworks,dev]'
	@touch $@

# Offline is no reason to stop: recall then goes by words, tests that need the model are skipped, and
# both say so.
weights: $(SERVES)
	@$(BIN)/recollect models install || \
	  echo "The local embedding model could not be installed: this goes on without it." >&2

lint: $(READY) ## ruff and pyright
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(READY) ## let ruff fix and format
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

test: lint weights ## lint and the core tests
	$(BIN)/pytest -n $(JOBS) -m "not ($(EXTRA))" $(PYTEST_ARGS)

test-all: test test-extra ## the core tests, then engines, browser, frameworks and slow ones

# A file at a time in each process: the tests of one share its server.
test-extra: $(READY) $(CREWAI)/.ready weights
	$(BIN)/pytest -n $(JOBS) --dist loadfile -m "$(EXTRA)" $(PYTEST_ARGS)
	$(CREWAI)/bin/python -m pytest -p no:xdist tests/framework/test_crewai.py

# CrewAI wants older versions of what other frameworks need: an environment of its own.
$(CREWAI)/.ready: pyproject.toml constraints-crewai.txt | $(BIN)/python
	@echo "Installing CrewAI into $(CREWAI): this takes some minutes, and happens once."
	$(BIN)/python -m venv $(CREWAI)
	$(CREWAI)/bin/python -m pip install --quiet --constraint constraints-crewai.txt --editable '.[client]' crewai pytest pytest-timeout hypothesis
	@touch $@

serve: weights ## run Recollect: REST, gateway and background, at the address it prints
	$(BIN)/recollect serve

screenshots: $(READY) weights ## picture the memory page with the demo in it, for the documentation
	$(BIN)/python -m tests.browser.screenshots

clean: ## remove caches and build results (the virtual environment stays)
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis $(READY) $(SERVES) $(CREWAI)/.ready
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
