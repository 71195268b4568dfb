.DEFAULT_GOAL := help
.PHONY: help check lint test unit chaos format types openapi bench measure demo

DEMO_HOME ?= home-of-registry
PORT ?= 8080

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: lint test  ## everything that must hold before a change lands

lint:  ## form, lint, types, and the directions of imports
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	python -m tests.dead_code

test:  ## the tests alone, on every core; ARGS='-k ranking -x' narrows them
	pytest -n auto $(ARGS)

unit:  ## the tests that need neither a server nor a process
	pytest -m unit -n auto $(ARGS)

format:  ## put the code into form and repair what ruff can
	ruff format .
	ruff check --fix .

types:  ## mypy alone
	mypy

openapi:  ## write openapi.yaml anew from the code
	registry openapi > openapi.yaml.new
	mv openapi.yaml.new openapi.yaml

chaos:  ## break a registry while clients use it: SEED=n SECONDS=n; prints what was lost, stale, duplicated or wrong
	python -m tests.faults.chaos --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED))

bench:  ## measure everything (20 minutes), and write the table of bench/README.md; ONLY=describing: one program
	python -m bench --write $(if $(ONLY),--only $(ONLY))

measure:  ## measure the code, and write the table of docs/decisions/0018-measured-house.md anew
	python -m bench.measure_house --write docs/decisions/0018-measured-house.md

demo:  ## a registry with example results on http://127.0.0.1:8080 (PORT=…, DEMO_HOME=…)
	registry up --home $(DEMO_HOME) --port $(PORT) --demo
