.DEFAULT_GOAL := help
.PHONY: help check lint test unit partitions chaos format types openapi bench measure demo packages pins sbom try-compose

DEMO_HOME ?= home-of-registry
PORT ?= 8080
COMPILE := --quiet --universal --python-version 3.11 --custom-compile-command 'make pins'
EXTRAS := $(foreach extra,embedded inspect netcdf oidc parquet tracing,--extra $(extra))

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

partitions:  ## what asks the database, on tables in PARTS partitions: a quarter of an hour; ARGS narrows
	REGISTRY_TEST_PARTITIONS=$(or $(PARTS),8) pytest -m 'versions or faults' -n auto $(ARGS)

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

packages:  ## build wheels and source archives into dist/, install and use them: ARGS='--python python3.12'
	python -m tests.deploy.packages $(ARGS)

pins:  ## write the versions of deploy/ anew, with uv: ARGS=--upgrade for newer ones
	uv pip compile $(COMPILE) $(EXTRAS) --no-annotate --output-file deploy/constraints.txt $(ARGS) pyproject.toml
	uv pip compile $(COMPILE) --extra oidc --extra tracing --generate-hashes --no-annotate --constraint deploy/constraints.txt \
		--output-file deploy/requirements.txt $(ARGS) pyproject.toml

sbom:  ## write dist/sbom.cdx.json, what the image's versions are made of, and print their licenses
	python -m tests.deploy.sbom dist/sbom.cdx.json

demo:  ## a registry with example results on http://127.0.0.1:8080 (PORT=…, DEMO_HOME=…)
	registry up --home $(DEMO_HOME) --port $(PORT) --demo

try-compose:  ## docker-compose.yml and deploy/upgrade on a container engine made for it (root, Debian); STEPS='stops upgrades'
	deploy/try-compose $(STEPS)
