# `make grade` and `make test` need nothing but Python 3.11 to 3.13 and make; everything else is installed into .venv.

PYTHON ?= python3
ENV := $(if $(GPU),.gpu,.venv)
BIN := $(ENV)/bin

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
WITHOUT_TORCH := import tomllib; needs = tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]; print(*(need for need in needs if not need.startswith("torch")), sep="\n")

# pip unpacks on one core, so two of them share the pinned versions, and a third one installs what these do not have.
PINNED = for half in 0 1; do $(PIP) --no-deps $$(sed '/^\#/d' constraints.txt | awk "NR % 2 == $$half") & done; wait
DEV = $(PIP) --editable '.[dev]'
INSTALL = $(if $(GPU),$(DEV) "torch===$(TORCH)",$(PINNED); $(DEV) --no-build-isolation 2>/dev/null || $(DEV))
ifdef LIGHT
INSTALL = $(BIN)/python -c '$(WITHOUT_TORCH)' > $(ENV)/light.txt && $(PIP) --requirement $(ENV)/light.txt && $(PIP) --no-deps --editable .
endif

TORCH = $(shell sed -n 's/^torch==//p' constraints.txt)
WHICH = say which to use, as in make $(MAKECMDGOALS) PYTHON=python3.12

.DEFAULT_GOAL := help
.PHONY: help grade test test-all guarantees lab docs bench build setup

help:                   ## show what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 16

grade: setup            ## autograde a sample class for lab 01a
	@$(BIN)/rushlight grade 01a --sample

test: setup             ## run the tests (six to seven minutes on two cores); BUDGET=record keeps their CPU time; GPU=1 runs the labs beside a stand-in for a GPU
ifdef GPU
	@$(BIN)/python -m pytest -n 2 -m "" --durations 10 tests/test_beside_a_gpu.py
else
	@sh system.sh chromium
	@$(BIN)/python docs/programs/browser/parts.py || true  # without them, tests of the pages that run Python are skipped
	@$(BIN)/python tests/rewriting.py || true  # otherwise each worker does it
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python -m pytest -n 3 --durations 10 $(if $(BUDGET),--budget $(BUDGET))
endif

test-all: setup         ## run everything (hours), or a part of it: make test-all SHARD=3/8
	@sh system.sh chromium hub
	@$(BIN)/python docs/programs/browser/parts.py --lite || true
	@SHARD=$(SHARD) $(BIN)/python -m pytest -n 2 -m "" --durations 10

guarantees: setup       ## try the exercises that have changed, and record what holds: make guarantees EXERCISES="aten.strided.permute"
	@$(BIN)/python -m pytest -n 2 --lock "$(or $(EXERCISES),changed)" -m "" --durations 10 tests/autograder/author/test_guarantees.py

lab: setup              ## open lab 01a in JupyterLab, or another: make lab LAB=00; LIGHT=1 installs no torch, to practise
	@$(BIN)/rushlight lab $(LAB)

docs: setup             ## build the site into site/
	@$(BIN)/rushlight docs

bench: setup            ## run the measurements
	@for script in $(filter-out bench/gpu.py,$(wildcard bench/*.py)); do $(BIN)/python $$script || exit 1; done

build: setup            ## rebuild the moving figures, and the notebooks from their sources
	@$(BIN)/python docs/programs/figures/build.py
	@$(BIN)/rushlight build

setup: $(ENV)/installed
	@sh system.sh

$(ENV)/installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "there is no $(PYTHON) here: install Python 3.11 to 3.13, or $(WHICH)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info[:2] <= (3, 13) else "Rushlight needs Python 3.11 to 3.13, and this is %d.%d: $(WHICH)" % sys.version_info[:2])'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(ENV)
	@echo "installing into $(ENV) (a few minutes the first time)"
	@$(PIP) --upgrade pip  # the one of Python 3.11 takes twice as long to choose packages
	@$(INSTALL)
	@$(BIN)/python -m compileall -qq -j 0 -x '/(tests?|testing|_vendor|mypyc?|physics|stats|benchmarks|pip|fontTools|winappdbg|dask/array|dask/dataframe|f2py|distutils|_antlr|lexers|pydantic|pymdownx|wcwidth|uniprops|prompt_toolkit|jupyterhub|aiohttp|async_api|fsspec|oauthlib)/' $(ENV)/lib rushlight autograder || true  # on all cores, which pip does on one, and without what is seldom imported; a few files are no Python
	@touch $@
