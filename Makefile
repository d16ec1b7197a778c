# Two commands for everybody: `make run` and `make test`. Each sets up what it needs.
# The rest is for those who work on Satchel; `make` lists it all.

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

# The first Python on the path that is new enough and can make an environment.
PYTHON = $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
  $$p -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
    >/dev/null 2>&1 && echo $$p && break; done)

PACKS ?=
ARGS  ?=

# Compiled modules are kept, outside of the folders: pytest takes 40 s to make those of
# the tests, which a shell that says not to keep them would pay for in each run.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.cache/pycache

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test hostile locks lint format types layers docs readme pythons site record replay coverage figures fuzz bench breaks fleet adapters clients newest generate lock engines all long clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.run ## show the main job in the terminal; PACKS=folder for a library of your own
	@$(BIN)/python examples/tour.py $(PACKS)

test: $(VENV)/.dev ## run the tests but for the slow ones, docs and hostile; PRODUCT=satchel_store for one product's; or just those of ARGS
ifdef PRODUCT
	@files=$$($(BIN)/python -m tools.tests_of $(PRODUCT)) && \
	  $(BIN)/python -m pytest -q -n auto -m "not hostile and not slow" $$files $(ARGS)
else
	$(BIN)/python -m pytest -n auto $(or $(ARGS),-m "not hostile and not slow" --ignore=tests/docs $(if $(CI),--cov --cov-report= --cov-fail-under=0))
endif

hostile: $(VENV)/.dev ## run the tests that attack: hundreds of packs, thousands of requests
	$(BIN)/python -m pytest -n auto -m hostile $(ARGS)
	$(BIN)/python -m tests.abuse

locks: $(VENV)/.site ## install the lock files with the oldest pip, where newer releases of all are there
	@$(PIP) install --require-hashes -r requirements/lock.txt
	@$(BIN)/python -m tools.locks

lint: $(VENV)/.dev ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev ## mypy and pyright, both strict
	$(BIN)/mypy
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

layers: $(VENV)/.dev ## which room may import which
	$(BIN)/lint-imports

docs: $(VENV)/.dev ## run every example of README.md and docs/, and check the packs that ship
	$(BIN)/python -m pytest -q tests/docs
	$(BIN)/satchel check src/satchel/packs --fail-on warning
	$(BIN)/satchel check examples/skills --fail-on warning

readme: $(VENV)/.dev ## run README.md from a wheel on each Python, without rights, and src/satchel alone
	@$(BIN)/python -m tools.readme

pythons: $(VENV)/.dev ## run the tests on the newest Python that is here, where this one is older
	@$(BIN)/python -m tools.pythons

site: $(VENV)/.site ## write the site to build/site: docs/ and the API, every link checked
	@$(BIN)/python -m tools.site

record: $(VENV)/.dev ## record what 6,000 questions are answered, in tests/record
	@$(BIN)/python -m tools.record make

replay: $(VENV)/.dev ## ask them again; fails where an answer differs, or too few lines are reached
	@$(BIN)/python -m tools.record reach

# With CI set, `test` has noted what it reached, and the slow ones are added to that.
coverage: $(VENV)/.dev ## run all, also the slow ones, with the coverage gate, and show what they do not reach
	$(BIN)/python -m pytest -n auto $(if $(CI),-m "slow and not hostile" --cov-append,-m "not hostile") --ignore=tests/docs --cov --cov-report=term

figures: $(VENV)/.dev ## measure the house: size and doors, with their bars, and routes
	@$(BIN)/python -m tools.figures $(ARGS)

fuzz: $(VENV)/.dev ## the hypothesis properties alone, with many more examples
	$(BIN)/python -m pytest -n auto -m property --hypothesis-profile=fuzz $(ARGS)

breaks: $(VENV)/.dev ## try 60 one-line breaks, each on the tests that reach it; which those are is mapped first
	@$(BIN)/python -m tools.breaks map
	@$(BIN)/python -m tools.breaks try

bench: $(VENV)/.dev ## the benchmarks
	$(BIN)/python -m benchmarks $(ARGS)

fleet: $(VENV)/.dev ## three servers, a balancer that pins nobody, PostgreSQL and a registry, and tests on them; ARGS=up only starts them
	@$(BIN)/python -m tests.fleet $(ARGS)

clients: $(VENV)/.dev ## the server, and what reads others, with the real clients; ARGS="NAME" for one
	@$(BIN)/python -m tools.clients run $(ARGS)

adapters: $(VENV)/.dev ## each adapter under its real framework; ARGS="NAME", or --lowest: also at lower bounds
	@$(BIN)/python -m tools.adapters run $(ARGS)

newest: $(VENV)/.dev ## lock, run and write down the newest releases of all frameworks and clients
	@$(BIN)/python -m tools.newest

generate: $(VENV)/.dev ## write what is made from other files: tests/api.txt, tables in docs/
	$(BIN)/python -m tools.api
	$(BIN)/python -m tools.rows
	$(BIN)/python -m tools.role_packs
	$(BIN)/python -m tools.adapters table
	$(BIN)/python -m tools.clients table
	$(BIN)/python -m tools.lint_rules
	$(BIN)/python -m tools.picture
	$(BIN)/python -m tools.captures

engines: $(VENV)/.dev ## bring the programs that some tests need, print what is here; ENGINES=required fails for a missing one
	@$(BIN)/python -m tools.engines

all: ## what has to pass before a change goes in, in 45 minutes: .ci/run
	@.ci/run

long: ## what takes longer, before a release: more examples and attacks, lowest releases, large clients, breaks, kills
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory adapters ARGS=--lowest
	@$(MAKE) --no-print-directory clients ARGS=--all
	@$(MAKE) --no-print-directory breaks
	@$(BIN)/python -m tests.churn
	@KILLS=300 $(BIN)/python -m pytest -s -rs -k "killed_upgrade or push_that_is_killed" \
	  tests/install/test_interrupted.py tests/install/oci/test_servers.py
	@$(BIN)/python -m tests.fleet kills 600

clean: ## remove the environment and everything that was generated
	rm -rf $(VENV) build dist htmlcov .coverage .coverage.* .hypothesis .*_cache
	find src tests tools examples -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up: each stamp is newer than what it was made from, or it is made again -----

# Stamps of an environment whose Python is gone (moved, upgraded) say nothing.
$(shell test -x $(BIN)/python || rm -f $(VENV)/.run $(VENV)/.dev $(VENV)/.site)

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Satchel needs Python 3.11 or newer, with venv, on the" \
	  "PATH (or: make PYTHON=/path/to/python)" >&2; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON) ..."
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.run: requirements/run.txt pyproject.toml | $(BIN)/python
	@$(PIP) install --require-hashes -r requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run

# The pins of the site agree with those of development.
$(VENV)/.site: requirements/site.txt | $(VENV)/.dev
	@$(PIP) install --require-hashes -r requirements/site.txt
	@touch $@

# --- lock files: versions and hashes, no address of any index ------------------------

# A release is a week old before we take it: most bad ones are withdrawn by then.
# Extras stay in the lock: pip 22 and 23 resolve `coverage[toml]` again where the lock
# names only `coverage`, and takes a release that the lock does not have.
COMPILE = $(BIN)/uv pip compile --quiet --upgrade --no-strip-extras \
  --python-version 3.11 --universal --generate-hashes --exclude-newer "7 days" \
  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

lock: | $(BIN)/python ## resolve requirements/*.txt again from pyproject.toml
	@$(PIP) install --require-hashes -r requirements/lock.txt
	$(COMPILE) pyproject.toml --group build -o requirements/run.txt
	$(COMPILE) pyproject.toml --group dev --extra watch --extra serve --extra postgres --extra mcp --extra http --extra otel --extra search -c requirements/run.txt -o requirements/dev.txt
	$(BIN)/python -m tools.plain_pins requirements/dev.txt requirements/run.txt
	$(COMPILE) --group site -c requirements/dev.txt -o requirements/site.txt
	$(COMPILE) --group lock -o requirements/lock.txt
