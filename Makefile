# `make` lists the targets. Packages are installed only in .venv.
.DEFAULT_GOAL := help
.PHONY: help up demo manage test examples fuzz check audit messages sbom release bench chaos simulate mutate soak lock format studio docs schemas clean
.SUFFIXES:
PY := .venv/bin/python
ARGS ?=

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

up: ## Install and start everything, and print the addresses (PORT, FLOWER_PORT, VALKYR_HOME)
	@.ci/venv requirements.txt
	@exec $(PY) -m valkyr_project.up $(ARGS)

demo: ## Run a real example; start the stack first if it is not running
	@.ci/venv requirements.txt
	@exec $(PY) -m valkyr_project.demo $(ARGS)

manage: ## Run a management command on the running stack (ARGS="payload_keys show")
	@.ci/venv requirements.txt
	@exec $(PY) -m valkyr manage $(ARGS)

test: ## Run all tests on their own servers (ARGS="-k word" goes to pytest)
	@.ci/venv requirements-dev.txt
	@PY=$(PY) .ci/test $(ARGS)

examples: ## Record the API's examples again from its responses
	@.ci/venv requirements-dev.txt
	@VALKYR_RECORD_EXAMPLES=1 $(PY) -m pytest -q tests/contract/test_examples.py

fuzz: ## Try requests and templates of all kinds (ARGS="--examples 500", "--seconds 600")
	@.ci/venv requirements-dev.txt
	@$(PY) -m pytest tests/fuzz $(ARGS)

check: ## Check format, lint, types, layers, pages, migrations, deployment and the studio; cheapest first
	@.ci/venv requirements-dev.txt
	@PY=$(PY) .ci/check

messages: ## Update the catalogues of translations, and list untranslated texts
	@.ci/venv requirements-dev.txt
	@$(PY) tools/messages.py

audit: ## List known vulnerabilities of the pinned packages (asks an advisory service over the network)
	@.ci/venv requirements-dev.txt
	@$(PY) -m pip_audit --require-hashes --disable-pip -r requirements.txt

sbom: ## Write the software bill of materials in CycloneDX format (ARGS=FILE, by default sbom.json)
	@.ci/venv requirements-dev.txt
	@$(PY) -m tools.sbom $(ARGS)

release: ## Build a release's files twice, compare them, and write them with checksums to dist/
	@.ci/venv requirements-dev.txt
	@$(PY) -m tools.release $(ARGS)

bench: ## Measure Valkyr and a plain Celery canvas on the same servers
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.benchmarks $(ARGS)

chaos: ## Inject faults into real processes under load, then audit and report (ARGS="--help")
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.chaos $(if $(BROKER),--broker $(BROKER)) $(ARGS)

simulate: ## Run the engine statement by statement in random orders (ARGS="--seeds 1000 --from 1", "--seed 7")
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.simulation $(ARGS)

mutate: ## Change the engine in one place at a time, and list changes that no test notices (ARGS="--help")
	@.ci/venv requirements-dev.txt
	@exec $(PY) -m tests.mutation $(ARGS)

soak: ## Run everything at once for an hour, and report what grows (ARGS="--minutes 5")
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

format: ## Format the code
	@.ci/venv requirements-dev.txt
	@$(PY) -m ruff check --fix-only --quiet . ; $(PY) -m ruff format .
	@PY=$(PY) .ci/frontend format

studio: ## Build the studio's bundle from executions/frontend (needs the npm registry once)
	@.ci/venv requirements-dev.txt
	@PY=$(PY) .ci/frontend build

# The settings require a key and a database. This command does not use them.
schemas: ## Write the workflow's JSON Schema and the OpenAPI document to docs/reference
	@.ci/venv requirements-dev.txt
	@VALKYR_SECRET_KEY="schemas-$$(printf '0123456789abcdef%.0s' 1 2 3 4)" \
		DATABASE_URL=postgres://nobody@127.0.0.1:1/none $(PY) manage.py write_schemas $(ARGS)

docs: ## Build the site in ./site (ARGS=serve: serve it, and rebuild changed pages)
	@.ci/venv requirements-dev.txt
	@PY=$(PY) .ci/docs $(or $(ARGS),build)

clean: ## Remove caches; keep .valkyr (the data) and .venv
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis test-artifacts site \
		executions/frontend/node_modules
