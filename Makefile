# One command each, on a machine with only Python 3.11+ and make; everything lands in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

LOWEST := .venv-lowest

.PHONY: demo test test-backends test-lowest lint types unit mutants docs bench clean

demo: $(VENV)/.base
	$(BIN)/omnirank demo

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python tests/tools/structure.py

types: $(VENV)/.dev
	$(BIN)/mypy

# The whole suite with compiled kernels; one of its tests runs the kernels interpreted as well.
unit: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2

# Every estimator, task and kind of data under every backend of joblib, bit by bit; `unit` runs a part of it.
test-backends: $(VENV)/.dev
	OMNIRANK_BACKENDS=all $(BIN)/python -m pytest -n 2 tests/backends

# The suite with the lowest versions that pyproject.toml claims.
test-lowest: $(LOWEST)/.test
	$(LOWEST)/bin/python -m pytest -n 2

# Whether the tests notice mistakes: 200 of them, drawn by a seed. An hour or two; not part of test.
mutants: $(VENV)/.dev
	$(BIN)/python tests/tools/mutants.py --workers 2

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e ".[dev]"
	@touch $@ $(VENV)/.base

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) -e ".[dev,docs]"
	@touch $@

$(LOWEST)/.test: pyproject.toml tests/tools/lowest_versions.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python tests/tools/lowest_versions.py test ann > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet -c $(LOWEST)/lowest.txt -e ".[test,ann]"
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) docs/_build docs/_pictures docs/gallery docs/api/generated .mypy_cache .ruff_cache .pytest_cache
