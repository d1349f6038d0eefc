# Everything that is needed is set up on the first call; later calls are quick.
PYTHON ?= python3
WORKERS ?= 2
MUTANTS ?= 20
export PYTHON

VENV := .venv
OLDEST := .venv-oldest
READY := $(VENV)/.ready
READY_OLDEST := $(OLDEST)/.ready
SETUP_FILES := pyproject.toml hatch_build.py scripts/setup.sh

.PHONY: help setup demo test test-current test-oldest test-slow test-all test-gpu gate verify lint bench verdicts clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      grade a skeleton, a wrong kernel and a right one"
	@echo "make test      linters, the author's gate, tests, and the contract tests on the oldest supported Triton"
	@echo "make test-all  the same with mutants in the author's gate, all slow tests (every attack, every right kernel),"
	@echo "               and the tests on the GPU where there is one"
	@echo "make verify    the author's gate over all katas, as a matrix, with mutants of each solution"
	@echo "make lint      ruff and mypy alone"
	@echo "make bench     what a check costs against a bare run"
	@echo "make verdicts  every solution, skeleton and wrong example of the course, as a table"
	@echo "make clean     remove virtual environments, caches and build output"

setup: $(READY)

$(READY): $(SETUP_FILES) constraints.txt
	@bash scripts/setup.sh $(VENV) constraints.txt
	@touch $@

$(READY_OLDEST): $(SETUP_FILES) constraints-oldest.txt
	@bash scripts/setup.sh $(OLDEST) constraints-oldest.txt
	@touch $@

demo: $(READY)
	@$(VENV)/bin/python scripts/demo.py

test: lint gate test-current test-oldest

test-current: $(READY)
	$(VENV)/bin/python -m pytest -n $(WORKERS) -m "not gpu and not slow" tests

test-slow: $(READY)
	$(VENV)/bin/python -m pytest -n $(WORKERS) -m "slow and not gpu" tests

test-oldest: $(READY_OLDEST)
	$(OLDEST)/bin/python -m pytest -n $(WORKERS) -m "not gpu and not slow" tests/tracer tests/interpreter

test-all: lint verify test-current test-oldest test-slow test-gpu

gate: $(READY)
	$(VENV)/bin/kata verify --jobs $(WORKERS)

verify: $(READY)
	$(VENV)/bin/kata verify --jobs $(WORKERS) --mutants $(MUTANTS)

test-gpu: $(READY)
	@if nvidia-smi >/dev/null 2>&1; then PYTHON=$(VENV)/bin/python bash scripts/test_gpu.sh; \
	else echo "no GPU answers here, so the tests on the GPU are left out"; fi

lint: $(READY)
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy -p tritonkata

bench: $(READY)
	$(VENV)/bin/python benchmarks/check_time.py --kata safe_softmax
	$(VENV)/bin/python benchmarks/check_time.py --kata masked_softmax

verdicts: $(READY)
	$(VENV)/bin/python benchmarks/verdict_table.py

clean:
	rm -rf $(VENV) $(OLDEST) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
