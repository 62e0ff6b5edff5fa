# One command each, on a machine with only Python 3.11+ and make; everything lands in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
# uv installs in seconds what takes pip a minute; pip does it where uv is not available or finds no package index.
install = ($(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt $(1)) \
	|| $(PIP) --no-compile $(1)

LOWEST := .venv-lowest

# Python's files of compiled modules are written once, not made anew in each of the processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-backends test-bounds test-lowest lint types recorded unit mutants docs bench clean

demo: $(VENV)/.base
	$(BIN)/omnirank demo

# What must pass before a change is merged: minutes. The types are checked while the kernels are compiled.
test: $(VENV)/.dev
	$(MAKE) --no-print-directory -j 2 lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python tests/tools/structure.py

types: $(VENV)/.dev
	$(BIN)/mypy

# Recorded results first: they need most kernels, which are compiled here once and not by both processes of `unit`.
recorded: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 -m "not slow" tests/backends/test_recorded.py

unit: recorded
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" --ignore tests/backends/test_recorded.py

# All the rest: backends, clusters, kills, memory, a browser, pages, tools, all cases of tests of which `unit` runs some,
# and for each property ten times as many examples, drawn anew.
test-slow: $(VENV)/.dev
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n 2 --dist loadgroup -m "slow or hypothesis"
	$(MAKE) --no-print-directory test-bounds

# Every estimator, task and kind of data under every backend of joblib, bit by bit; `test-slow` runs a part of it.
test-backends: $(VENV)/.dev
	OMNIRANK_BACKENDS=all $(BIN)/python -m pytest -n 2 --dist loadgroup tests/backends

# Tests that reach every kernel, with the bounds of all arrays checked and vector instructions replaced by plain loops.
BOUNDS := core/test_bounds.py trees/test_kernel_interpreted.py trees/test_prediction.py \
	trees/test_order.py trees/test_semi_supervised_growing.py trees/test_sparse_kernel.py \
	trees/test_subtree_rows.py ensembles/test_kernel_permutation.py ensembles/test_unbiased.py \
	ensembles/test_scores.py::test_permutation_is_as_defined graphs/test_euclidean.py neighbors/test_search.py \
	neighbors/test_sparse_search.py neighbors/test_weighted_knn.py relational/test_columns.py relief/test_relief.py \
	tasks/test_task_distances.py
test-bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 $(addprefix tests/,$(BOUNDS))

# The suite with the lowest versions that pyproject.toml claims.
test-lowest: $(LOWEST)/.test
	$(LOWEST)/bin/python -m pytest -n 2 -m "not slow"

# Whether the tests notice mistakes: 200 of them, drawn by a seed. An hour or two; not part of test.
mutants: recorded
	$(BIN)/python tests/tools/mutants.py .mutants --interpreted $(addprefix tests/,$(BOUNDS))

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(call install,-e .)
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(call install,-e ".[dev]")
	@touch $@ $(VENV)/.base

$(VENV)/.docs: $(VENV)/.dev
	$(call install,-e ".[docs]")
	@touch $@

$(LOWEST)/.test: pyproject.toml tests/tools/lowest_versions.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python tests/tools/lowest_versions.py test > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet -c $(LOWEST)/lowest.txt -e ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) .mutants docs/_build docs/_pictures docs/gallery docs/api/generated .mypy_cache .ruff_cache .pytest_cache
