# `make` lists the targets. Everything is set up on first use; nothing is written outside this folder.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
WORKERS ?= -n 2 --dist loadfile --no-loadscope-reorder # tests in so many processes, each with a JVM of its own; empty: in one
OUT ?= .evenkeel/bench$(if $(QUICK),-quick).json
A ?= benchmarks/results/bench.json
B ?= $(OUT)
ENV := set -euo pipefail; . .evenkeel/env.sh;

.PHONY: help setup demo airflow test test-fast test-faults lint format lock reference doctor bench-planners bench-layout papers backtest bench bench-compare bench-stateful bench-splitting bench-scale clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: ## set this clone up: packages, Java, Delta's JARs, Airflow's database (seconds when done already)
	@$(PYTHON) -m bootstrap setup

demo: setup ## rebalance a drifting table of clicks with a real Airflow Dag, window after window
	@$(ENV) python -m demo

airflow: setup ## start Airflow (API server, scheduler, Dag processor) on loopback; PORT=8080; Ctrl-C ends it
	@$(ENV) exec python -m bootstrap.airflow_server $(PORT)

test: setup ## all tests, about half an hour on two cores
	@$(ENV) python -m pytest $(WORKERS)

test-fast: setup ## the tests that need neither Spark nor Airflow nor a browser nor long, under 2 minutes
	@$(ENV) python -m pytest $(WORKERS) -m 'not spark and not airflow and not browser and not long'

test-faults: setup ## of these, the faults it must survive, on real tables
	@$(ENV) python -m pytest $(WORKERS) -m faults

lint: setup ## ruff, ruff format and mypy --strict
	@$(ENV) ruff check . && ruff format --check . && mypy bootstrap cli dags demo pages partitioning plugins schemas spark_jobs benchmarks

format: setup ## let ruff mend and format
	@$(ENV) ruff check --fix . ; ruff format .

lock: setup ## make requirements.txt anew from requirements.in
	@$(ENV) uv pip compile --quiet --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-cache --override requirements.override requirements.in -o requirements.txt

reference: setup ## make docs/dataset-file.md anew from the schema of dataset files
	@$(ENV) python -m schemas.dataset_reference > docs/dataset-file.md

doctor: ## say what was found on this machine, and what to do about what is missing
	@$(PYTHON) -m bootstrap doctor

backtest: setup ## which planner on which forecast would have served a dataset best; DATASET=clicks
	@$(ENV) bin/evenkeel backtest '$(DATASET)'

bench: setup ## every benchmark against its goals, about two hours; QUICK=--quick: about seven minutes; kept in OUT=.evenkeel/bench.json (quick: bench-quick.json)
	@$(ENV) python -m benchmarks.bench $(QUICK) --save '$(OUT)'

bench-compare: setup ## two kept results of `make bench` side by side: A=... B=...
	@$(ENV) python -m benchmarks.compare_benches '$(A)' '$(B)'

bench-planners: setup ## what our planner is meant to do, as goals and results; about 25 minutes
	@$(ENV) python -m benchmarks.bench_planners

bench-layout: setup ## bytes and time of layout changes, as ratios
	@$(ENV) python -m benchmarks.bench_layout

papers: setup ## the papers' experiments beside what they print, about 15 minutes; QUICK=--quick: minutes; ONLY='gedik-4 fang-9': these
	@$(ENV) python -m benchmarks.papers $(QUICK) $(if $(ONLY),--only $(ONLY))

bench-stateful: setup ## a keyed job on a cluster of two workers, four ways, ten drifting windows; three quarters of an hour
	@$(ENV) python -m benchmarks.bench_stateful

bench-splitting: setup ## one key of 60 % of 10 million rows: plain groupBy, salted by hand, and aggregate_window; about 12 minutes
	@$(ENV) python -m benchmarks.bench_splitting

bench-scale: setup ## what grows with keys, bytes, files, buckets and slots, and how fast; KEYS=100000000: up to so many (20 GB of disk)
	@$(ENV) python -m benchmarks.bench_scale $(if $(KEYS),--most-keys $(KEYS))

clean: ## leave the clone as git made it; files of your own that git does not know yet stay
	@git clean -fdXq
