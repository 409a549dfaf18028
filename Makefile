# `make` lists the targets. Everything runs in .venv; nothing is installed elsewhere.
.DEFAULT_GOAL := help
.PHONY: help up demo manage test examples fuzz check audit messages sbom release bench chaos simulate mutate soak lock format studio docs schemas clean
.SUFFIXES:
PY := .venv/bin/python
ARGS ?=

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

up: ## Install, start everything, say where it is (PORT, FLOWER_PORT, VALKYR_HOME)
	@.ci/venv requirements.txt
	@exec $(PY) -m valkyr_project.up $(ARGS)

demo: ## Run a real example, bringing the stack up first where it does not run yet
	@.ci/venv requirements.txt
	@exec $(PY) -m valkyr_project.demo $(ARGS)

manage: ## Run a management command on the running stack (ARGS="payload_keys show")
	@.ci/venv requirements.txt
	@exec $(PY) -m valkyr manage $(ARGS)

test: ## Run all tests on servers of their own (ARGS="-k word" passes through)
	@.ci/venv requirements-dev.txt
	@PY=$(PY) .ci/test $(ARGS)

examples: ## Record the API's examples anew, from what it answers
	@.ci/venv requirements-dev.txt
	@VALKYR_RECORD_EXAMPLES=1 $(PY) -m pytest -q tests/contract/test_examples.py

fuzz: ## Try requests and templates of every kind (ARGS="--examples 500", "--seconds 600")
	@.ci/venv requirements-dev.txt
	@$(PY) -m pytest tests/fuzz $(ARGS)

check: ## Format, lint, types, layers, pages, migrations, deployment, the studio; cheapest first
	@.ci/venv requirements-dev.txt
	@PY=$(PY) .ci/check

messages: ## Write the catalogues of translated texts anew, and list what is not translated
	@.ci/venv requirements-dev.txt
	@$(PY) tools/messages.py

audit: ## Known holes in the pinned packages (asks an advisory service over the network)
	@.ci/venv requirements-dev.txt
	@$(PY) -m pip_audit --require-hashes --disable-pip -r requirements.txt

sbom: ## Write the software bill of materials, in CycloneDX (ARGS=FILE, sbom.json unless given)
	@.ci/venv requirements-dev.txt
	@$(PY) -m tools.sbom $(ARGS)

release: ## Build the files of a release twice, compare, and write them with checksums into dist/
	@.ci/venv requirements-dev.txt
	@$(PY) -m tools.release $(ARGS)

bench: ## Measure this engine beside plain Celery canvas, on the same servers
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.benchmarks $(ARGS)

chaos: ## Inject faults into real processes under load, audit, report (ARGS="--help")
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.chaos $(if $(BROKER),--broker $(BROKER)) $(ARGS)

simulate: ## Run the engine statement by statement in drawn orders (ARGS="--seeds 1000 --from 1", "--seed 7")
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.simulation $(ARGS)

mutate: ## Change the engine in one place at a time, and say which changes no test notices (ARGS="--help")
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.mutation $(ARGS)

soak: ## Run everything at once for an hour, and tell what grows (ARGS="--minutes 5")
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.soak $(ARGS)

lock: ## Pin requirements*.in with hashes into requirements*.txt
	@.ci/venv requirements-dev.txt
	@$(PY) -m uv pip compile --universal --quiet --generate-hashes --no-header --no-emit-index-url \
		--python-version 3.11 requirements.in -o requirements.txt
	@$(PY) -m uv pip compile --universal --quiet --generate-hashes --no-header --no-emit-index-url \
		--python-version 3.11 requirements-dev.in -o requirements-dev.txt
	@$(PY) -m uv pip compile --universal --quiet --generate-hashes --no-header --no-emit-index-url \
		--python-version 3.11 requirements-build.in -o requirements-build.txt

format: ## Put the code into its format
	@.ci/venv requirements-dev.txt
	@$(PY) -m ruff check --fix-only --quiet . ; $(PY) -m ruff format .
	@PY=$(PY) .ci/frontend format

studio: ## Build the studio's bundle from executions/frontend (needs the npm registry once)
	@.ci/venv requirements-dev.txt
	@PY=$(PY) .ci/frontend build

# Neither the key nor the database is used: settings want them to be named.
schemas: ## Write the workflow's JSON Schema and the OpenAPI document anew, into docs/reference
	@.ci/venv requirements-dev.txt
	@VALKYR_SECRET_KEY="schemas-$$(printf '0123456789abcdef%.0s' 1 2 3 4)" \
		DATABASE_URL=postgres://nobody@127.0.0.1:1/none $(PY) manage.py write_schemas $(ARGS)

docs: ## Build the pages as a site into ./site (ARGS=serve: show it, and follow changes)
	@.ci/venv requirements-dev.txt
	@PY=$(PY) .ci/docs $(or $(ARGS),build)

clean: ## Remove caches (data in .valkyr and .venv stay)
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis test-artifacts site \
		executions/frontend/node_modules
