.DEFAULT_GOAL := help
.PHONY: help check test chaos format types openapi bench measure demo

DEMO_HOME ?= home-of-registry
PORT ?= 8080

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check:  ## everything that must hold before a change lands: form, lint, types, imports, tests
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	pytest

test:  ## the tests alone; ARGS='-k ranking -x' narrows them
	pytest $(ARGS)

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

bench:  ## measure publishing, serving and the way to statistics
	python -m bench.main_job gunicorn
	python -m bench.describing

measure:  ## measure the code, and write the table of docs/decisions/0018-measured-house.md anew
	python -m bench.measure_house --write docs/decisions/0018-measured-house.md

demo:  ## a registry with example results on http://127.0.0.1:8080 (PORT=…, DEMO_HOME=…)
	registry up --home $(DEMO_HOME) --port $(PORT) --demo
