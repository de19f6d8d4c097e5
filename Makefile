# Everything a developer runs. `make help` lists it.
PYTHON ?= python3
PORT ?= 50051
# Many tests wait for servers, disks, clocks and commands, so others run meanwhile.
WORKERS = 5
PYTEST_ARGS ?= --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
VENV := .venv
DEMO := runs/demo
BIN := $(VENV)/bin
# The stamp carries a hash of the locks, so that a changed lock is installed.
LOCKS := requirements.lock pyproject.toml
DEV_LOCKS := $(LOCKS) requirements-dev.lock
LOCK_FLAGS := --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
# Model servers have an environment of their own: 6 GB.
MODELS := .venv-models

# uv installs in a third of the CPU time of pip, and from the mirror that pip is set to.
MIRROR = $$($(BIN)/python -m pip config list | sed -n "s/^.*\.index-url='\(.*\)'$$/\1/p" | tail -n 1)
INSTALL = @UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX-$(MIRROR)}" $(BIN)/uv pip install --quiet --compile-bytecode

# Every worker collects the tests, so Python keeps compiled files, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo up down test test-rest test-all test-models faults lint format bench docs proto servers wheel release lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Caliper needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(BIN)/uv: $(BIN)/python
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock >$(VENV)/uv.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.lock

$(VENV)/.installed: $(LOCKS) | $(BIN)/uv
	@echo "Installing Caliper into $(VENV)"
	$(INSTALL) --python $(VENV) --require-hashes -r requirements.lock
	$(INSTALL) --python $(VENV) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed $(DEV_LOCKS)
	@echo "Installing what tests and checks need into $(VENV)"
	$(INSTALL) --python $(VENV) --require-hashes -r requirements-dev.lock
	@touch $@

demo: $(VENV)/.installed ## Score two caption sets on the example pictures: no server, no model
	@rm -rf $(DEMO)
	$(BIN)/caliper evaluate --quiet --config examples/careless.yaml --out $(DEMO)/careless
	$(BIN)/caliper evaluate --quiet --config examples/careful.yaml --out $(DEMO)/careful
	$(BIN)/caliper compare $(DEMO)/careless $(DEMO)/careful
	@echo "Open $(CURDIR)/$(DEMO)/careful/report.html in a browser."

up: $(VENV)/.installed-dev ## Serve everything on this machine: Kafka, MinIO and a process per service
	$(BIN)/python -m tools.up --port $(PORT)

down: $(VENV)/.installed-dev ## Stop what `make up` started
	$(BIN)/python -m tools.up --down

# These hardly wait; a further worker would only collect the tests once more.
test: WORKERS = 3
test: $(VENV)/.installed-dev ## Run the tests that need no server
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not rest"

test-rest: $(VENV)/.installed-dev ## Run the others: real servers, containers, a browser, and files that take long
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m rest

test-all: $(VENV)/.installed-dev ## Run all tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

$(MODELS)/.installed: requirements-models.lock | $(BIN)/uv
	$(PYTHON) -m venv $(MODELS)
	@echo "Installing model servers into $(MODELS)"
	$(INSTALL) --python $(MODELS) --no-deps --require-hashes -r requirements-models.lock
	@touch $@

test-models: $(VENV)/.installed-dev $(MODELS)/.installed ## Run the tests on vLLM and transformers serve, which no other target runs (6 GB, x86-64)
	TEST_MODELS=$(MODELS) $(BIN)/python -m pytest tests/model_servers -rP --show-capture=stdout

faults: N = 40
faults: SEED = 1
faults: $(VENV)/.installed-dev ## Run N schedules of random faults, the first with SEED; runs/faults/<seed> has the logs of a failure
	FAULTS_N=$(N) FAULTS_SEED=$(SEED) $(BIN)/python -m pytest tests/services/test_random_faults.py -s

lint: $(VENV)/.installed-dev ## Check style, types, imports between layers, sizes and generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/cli_reference.py --check
	$(BIN)/python tools/dashboards.py --check
	$(BIN)/python tools/metrics_reference.py --check
	$(BIN)/python tools/prometheus_rule.py --check
	$(BIN)/python tools/protos.py --check

wheel: $(VENV)/.installed ## Install the wheel without extras for the other Pythons of 3.11 to 3.13, and try it out
	$(BIN)/python -m tools.wheel

release: $(VENV)/.installed ## Make a release of this commit in dist/release: the same bytes each time
	$(BIN)/python tools/release.py

servers: $(VENV)/.installed-dev ## Fetch the Kafka, MinIO, Versity, Triton, llama.cpp and Kubernetes that tests use if present
	$(BIN)/python -m tests.servers

docs: $(VENV)/.installed-dev ## Generate docs/cli.md, docs/metrics.md, dashboards and rules
	$(BIN)/python tools/cli_reference.py
	$(BIN)/python tools/dashboards.py
	$(BIN)/python tools/metrics_reference.py
	$(BIN)/python tools/prometheus_rule.py

proto: $(VENV)/.installed-dev ## Generate src/caliper/api from proto/; breaking changes are refused
	$(BIN)/python tools/protos.py

format: $(VENV)/.installed-dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.installed-dev ## Run the benchmarks; each result is printed beside its bound or peer
	$(BIN)/python -m bench

lock: $(VENV)/.installed-dev ## Resolve the locks again
	$(BIN)/uv pip compile $(LOCK_FLAGS) --universal --extra all --group build -o requirements.lock pyproject.toml
	$(BIN)/uv pip compile $(LOCK_FLAGS) --universal -c requirements.lock --group dev -o requirements-dev.lock
	$(BIN)/uv pip compile $(LOCK_FLAGS) --python-platform x86_64-manylinux_2_28 --override tests/model_servers/overrides.txt \
		-o requirements-models.lock tests/model_servers/requirements.in
	$(BIN)/uv pip compile $(LOCK_FLAGS) --universal -c requirements.lock --extra spacy --extra minilm --no-emit-package setuptools \
		$$(sed -n 's/^\([a-z0-9_.-]*\)==.*/--no-emit-package \1/p' requirements.lock) -o docker/language.lock pyproject.toml

clean: ## Remove the virtual environment and what tools left behind
	rm -rf $(VENV) $(MODELS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
