.DEFAULT_GOAL := help
.PHONY: help check check-all lint test unit affected live browser clients faults calibration deploy partitions citus coverage chaos format types openapi bench measure demo packages pins sbom try-compose

LIVE := pytest -n auto tests/live
DEMO_HOME ?= home-of-registry
PORT ?= 8080
COMPILE := --quiet --universal --python-version 3.11 --custom-compile-command 'make pins'
EXTRAS := $(foreach extra,embedded inspect mcp oidc parquet,--extra $(extra))

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: lint test  ## what must hold before every commit: the linters and the core

check-all: lint test live browser clients faults calibration deploy  ## everything; .ci/run is this from nothing

lint:  ## form, lint, types, the directions of imports, dead code, and who commits
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	python -m tests.lint.dead_code
	@! grep -rnE --include='*.py' '\.(commit|begin)\(' registry workers client migrations \
		| grep -vE '^(registry/storage/database|migrations/apply)\.py|super\(\)' || (echo 'only the database module commits'; false)

test:  ## the core: all that the registry does, on real servers; ARGS='-k ranking -x' narrows
	pytest -n auto $(ARGS)

unit:  ## the core without what needs a server
	pytest -m unit -n auto $(ARGS)

affected:  ## the tests of the core that run what was changed since they last ran; the first time all
	pytest --testmon $(ARGS)

live: ; $(LIVE)/processes $(ARGS)  ## web, workers, dispatcher and command as processes
browser: ; $(LIVE)/browser $(ARGS)  ## pages in Chromium
clients: ; $(LIVE)/clients $(ARGS)  ## generated clients, notebooks, data frames, Grafana, spreadsheets
faults: ; $(LIVE)/faults $(ARGS)  ## whole registries broken on purpose
calibration: ; $(LIVE)/calibration $(ARGS)  ## error rates counted in simulated worlds
deploy: ; $(LIVE)/deploy $(ARGS)  ## packages, images, upgrades, nginx, systemd

partitions:  ## what asks the database, on tables in PARTS partitions; ARGS narrows
	REGISTRY_TEST_PARTITIONS=$(or $(PARTS),8) pytest -m db -n auto $(ARGS)

citus:  ## the same on the coordinator of a cluster, which REGISTRY_TEST_DATABASE_URL names; ARGS narrows
	REGISTRY_TEST_CITUS=1 pytest -m db $(ARGS)

coverage:  ## lines and branches that the core runs, by package
	pytest -n auto --cov=registry --cov=workers --cov-branch $(ARGS)

format:  ## put the code into form and repair what ruff can
	ruff format .
	ruff check --fix .

types:  ## mypy alone
	mypy

openapi:  ## write openapi.yaml and openapi.client.yaml anew from the code
	registry openapi > openapi.yaml.new
	registry openapi --client > openapi.client.yaml.new
	mv openapi.yaml.new openapi.yaml
	mv openapi.client.yaml.new openapi.client.yaml

chaos:  ## break a registry while clients use it: SEED=n SECONDS=n; prints what was lost, stale, duplicated or wrong
	python -m tests.live.faults.chaos --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED))

bench:  ## measure everything (20 minutes), and write the table of bench/README.md; ONLY=describing: one program
	python -m bench --write $(if $(ONLY),--only $(ONLY))

measure:  ## measure the code, and write the table of docs/decisions/0018-measured-house.md anew
	python -m bench.measure_house --write docs/decisions/0018-measured-house.md

packages:  ## build wheels and source archives into dist/, install and use them: ARGS='--python python3.12'
	python -m tests.live.deploy.packages $(ARGS)

pins:  ## write the versions of deploy/ anew, with uv: ARGS=--upgrade for newer ones
	uv pip compile $(COMPILE) $(EXTRAS) --no-annotate --output-file deploy/constraints.txt $(ARGS) pyproject.toml
	uv pip compile $(COMPILE) --extra oidc --generate-hashes --no-annotate --constraint deploy/constraints.txt \
		--output-file deploy/requirements.txt $(ARGS) pyproject.toml

sbom:  ## write dist/sbom.cdx.json, what the image's versions are made of, and print their licenses
	python -m tests.live.deploy.sbom dist/sbom.cdx.json

demo:  ## a registry with example results on http://127.0.0.1:8080 (PORT=…, DEMO_HOME=…)
	registry up --home $(DEMO_HOME) --port $(PORT) --demo

try-compose:  ## docker-compose.yml and deploy/upgrade on a container engine made for it (root, Debian); STEPS='stops upgrades'
	deploy/try-compose $(STEPS)
