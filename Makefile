# `make help` lists what can be asked for. Everything runs in .venv, which `make setup` creates.

SHELL := /bin/bash
BIN := .venv/bin
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help setup demo test check quick lint types layers generated generate docs format pins clean

help: ## list these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## create .venv with the rra command, the checks and the documentation tools
	@tools/setup.sh dev

demo: ## run the main job on the wine example and print the path of its report
	@tools/setup.sh run
	@$(BIN)/python examples/wine-discriminant/demo.py

test: check ## set everything up, then run every check and the whole suite
	@$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

quick: setup ## the suite without its slow tests
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" $(PYTEST_ARGS)

check: lint types layers generated docs ## style, types, layers, generated files, documentation

lint: setup ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup ## mypy, strict
	@$(BIN)/mypy

layers: setup ## who may import whom
	@$(BIN)/lint-imports --no-logo

generated: setup ## are the generated files what the code says?
	@$(BIN)/python tools/gen.py --check

generate: setup ## write the generated files
	@$(BIN)/python tools/gen.py --write

docs: setup ## build the documentation into docs/_build/html, warnings are errors
	@$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

format: setup ## put the code into shape
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

pins: setup ## resolve requirements/*.txt again (UPGRADE=1: take the newest versions)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/pins.py $(if $(UPGRADE),--upgrade)

clean: ## remove .venv and everything that was built
	rm -rf .venv build dist docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
