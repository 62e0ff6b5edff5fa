# One command each, on a machine with only Python 3.11+ and make; everything lands in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

.PHONY: demo test lint types unit docs bench clean

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

clean:
	rm -rf $(VENV) docs/_build docs/gallery docs/api/generated .mypy_cache .ruff_cache .pytest_cache
