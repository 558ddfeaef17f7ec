# Each target sets up .venv by itself, and does so quickly when there is nothing to do.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DEMO_STAMP := $(VENV)/.ready-demo
INSTALLING := $(VENV)/.installing
# Many tests wait for a server, a browser or a process: twice as many workers as cores keep the cores busy.
WORKERS ?= $(shell echo $$((2 * $$(nproc))))
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Hundreds of processes are started by the tests: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo serve-demo test test-slow coverage test-all-pythons soak namespaces browser reference recording screenshots docs lint bench results mutants format clean

setup: $(STAMP)

# Whoever interrupts an installation leaves a mark: the next one begins with an empty environment. One that merely fails,
# without a network say, has changed nothing.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "kakurenbo needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@test ! -e $(INSTALLING) && $(PIP) --version >/dev/null 2>&1 || { echo "setting up $(VENV), once: $(2)"; $(PYTHON) -m venv --clear $(VENV); }
	@trap 'exit 130' INT TERM; touch $(INSTALLING); \
	$(PIP) install --quiet --constraint constraints.txt --editable '$(1)'; code=$$?; rm -f $(INSTALLING); exit $$code
endef

$(STAMP): pyproject.toml constraints.txt
	$(call install,.[test],this takes some minutes)
	@touch $(DEMO_STAMP) $(STAMP)

# The demo needs neither tests nor documentation: whoever looks for the first time does not wait for them.
$(DEMO_STAMP): pyproject.toml constraints.txt
	$(call install,.,this takes some minutes)
	@touch $(DEMO_STAMP)

demo: $(DEMO_STAMP)
	@$(BIN)/kakurenbo demo

# A judge with a contest that bots rehearse within minutes, in a folder that goes away with it.
serve-demo: $(STAMP)
	@home=$$(mktemp -d); trap 'rm -rf "$$home"' EXIT; $(BIN)/python -m kakurenbo serve --demo --home "$$home"

# Within 10 minutes on two cores.
test: $(STAMP) browser namespaces
	$(PYTEST) -m "not slow" --durations=15

# What takes longer: contests in browsers, killed processes, every command of the documentation.
test-slow: $(STAMP) browser namespaces
	$(PYTEST) -m slow --durations=30

# All tests, with a list of the lines that none of them reaches: watching every line takes as long again.
coverage: $(STAMP) browser namespaces
	$(PYTEST) --cov --cov-report=term

# The whole suite with every Python that kakurenbo supports and this machine has, each in an environment of its own.
test-all-pythons:
	@missing=; failed=; \
	for version in 3.11 3.12 3.13 3.14; do \
	  if python$$version -c '' 2>/dev/null; then \
	    echo "== python$$version"; \
	    $(MAKE) --no-print-directory test PYTHON=python$$version VENV=out/python$$version || failed="$$failed $$version"; \
	  else missing="$$missing $$version"; fi; \
	done; \
	echo "not on this machine:$${missing:- none}"; echo "failed:$${failed:- none}"; test -z "$$failed"

# What takes longer than a test should: runs killed ten times at random moments; a judge whose workers are killed fifty times,
# everything else of it five times, its disk filled and its clock set; a machine of workers that is cut off; the self-test of
# the doctor; a backup under load; every anonymizer of a contest; privacy models beside pycanon's; forty releases in which no attack may see anybody. The judge's writes what it counted to out/soak.json.
soak: $(STAMP) namespaces
	KAKURENBO_KILLS=10 KAKURENBO_WORKER_KILLS=50 KAKURENBO_SOAK=1 KAKURENBO_BACKUP_UPLOADS=400 $(BIN)/python -m pytest tests/arena/test_killed_runs.py \
	  tests/judge/chaos tests/judge/test_worker_hosts.py tests/judge/test_selftest.py tests/judge/test_feedback.py tests/judge/test_backup_under_load.py tests/judge/test_verify.py \
	  tests/conformance/test_pwscup2024_reference.py tests/judge/hostile/test_hostile_uploads.py tests/judge/test_schema.py \
	  tests/anonymizers/test_private_synthesis.py tests/measures/test_privacy.py tests/attacks/test_shadow.py

# What makes machines of network namespaces; without it those tests are skipped.
namespaces:
	@command -v ip >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update && apt-get install --yes --no-install-recommends iproute2; } >/dev/null \
	  || echo "iproute2 could not be installed; tests that need it are skipped"; \
	else echo "no iproute2: as root, run apt-get install iproute2"; fi

# The browser in which the report is tested; without it those tests are skipped.
browser:
	@command -v chromium >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update && apt-get install --yes --no-install-recommends chromium fonts-noto-cjk; } >/dev/null \
	  || echo "the browser could not be installed; tests that need it are skipped"; \
	else echo "no browser: as root, run apt-get install chromium fonts-noto-cjk"; fi

# What the reference pages show of the software: verbs, methods, problem codes, exported names.
reference: $(STAMP)
	@$(BIN)/python -m scripts.make_reference

# The film of the README: a small contest on the command line.
recording: $(STAMP)
	$(BIN)/python scripts/make_recording.py

# The pictures of the tutorial of the judge: its contest is held in a browser, once in each language.
screenshots: $(STAMP) browser
	$(BIN)/python -m scripts.screenshots

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open out/site/index.html"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/towncrier build --draft --version unreleased >/dev/null
	$(BIN)/python -m scripts.scan_secrets
	$(BIN)/python -m scripts.audit_dependencies
	$(BIN)/python -m scripts.size_report

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# The tables of docs/results: plays what is missing, for hours at first. It can be stopped at any moment and goes on.
results: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 NUMBA_NUM_THREADS=1 nice -n 10 $(BIN)/python -m scripts.results

# How many mutants are drawn (or all), and by which seed; scripts/mutants says which there are.
MUTANTS ?= 400
SEED ?= 1

mutants: $(STAMP)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m scripts.mutants --mutants $(MUTANTS) --seed $(SEED)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .coverage* .hypothesis .import_linter_cache
