"""The files for those who deploy and release: compose.yaml, the unit of systemd, and the workflow."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bot.settings import Settings
from tests.packaging.environments import ROOT

OF_COMPOSE = {"POSTGRES_PASSWORD", "BASE_IMAGE", "POSTGRES_IMAGE"}  # read from .env beside the settings of the bot
COMPOSE, WORKFLOW, UNIT = ROOT / "compose.yaml", ROOT / ".github/workflows/ci.yml", ROOT / "deploy/vllm-digest.service"
SETTINGS = {name.upper() for name in Settings.model_fields}


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize(("schema", "path"), [("compose-spec", COMPOSE), ("github-workflows", WORKFLOW)])
def test_files_are_as_their_readers_want_them(schema: str, path: Path) -> None:
    """Compose's and GitHub's own schemas, as check-jsonschema brings them, find nothing wrong."""
    command = [sys.executable, "-m", "check_jsonschema", f"--builtin-schema=vendor.{schema}", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_what_compose_sets_is_a_setting() -> None:
    """Each variable that the bot gets, and each that is read from .env, is a setting or one of Compose's own."""
    services = parsed(COMPOSE)["services"]
    for name in ("bot", "worker"):
        assert set(services[name]["environment"]) <= SETTINGS
    read = set(re.findall(r"(?<!\$)\$\{(\w+)", COMPOSE.read_text("utf-8")))
    assert read >= OF_COMPOSE
    assert read - OF_COMPOSE <= SETTINGS


def test_the_example_of_settings_names_each_once() -> None:
    """.env.example, which is copied to .env, has every setting, and beside them only what Compose reads."""
    names = re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE)
    assert sorted(names) == sorted(SETTINGS | OF_COMPOSE)


def test_the_bot_of_compose_meets_its_database() -> None:
    """The bot's DATABASE_URL is that of the PostgreSQL beside it, which it waits for, and its commands exist."""
    services = parsed(COMPOSE)["services"]
    database = services["database"]["environment"]
    user, password, name = (database[f"POSTGRES_{each}"] for each in ("USER", "PASSWORD", "DB"))
    for service in (services["bot"], services["worker"]):
        assert service["environment"]["DATABASE_URL"] == f"postgresql+psycopg://{user}:{password}@database/{name}"
        assert service["depends_on"]["database"]["condition"] == "service_healthy"
    assert services["worker"]["command"] == ["worker"]
    assert services["worker"]["profiles"]
    assert f"--username={user}" in services["database"]["healthcheck"]["test"]


def test_the_services_of_compose_may_do_little() -> None:
    """No service writes outside of its volumes, gains privileges, publishes a port, or has memory without a limit; volumes are declared."""
    compose = parsed(COMPOSE)
    for name, service in compose["services"].items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["restart"] == "unless-stopped"
        assert (service["mem_limit"], service["pids_limit"], service["logging"]["driver"]) == ("1g", 256, "local")
        assert "ports" not in service
        assert {each.split(":")[0] for each in service["volumes"]} <= set(compose["volumes"])


def test_what_runs_the_bot_is_installed_by_hashes() -> None:
    """requirements.txt has each dependency that is not the tests' alone, in the tested version, with hashes, and names no index."""
    text = (ROOT / "requirements.txt").read_text("utf-8")
    hashed = re.findall(r"^([\w.-]+)==(\S+) .*\\(?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+$", text, re.MULTILINE)
    installed = {canonicalize_name(package): version for package, version in hashed}
    assert len(installed) == len(re.findall(r"^\w", text, re.MULTILINE))
    assert not re.search(r"://|^-", text, re.MULTILINE)
    tested = [each.split("==") for each in (ROOT / "constraints.txt").read_text("utf-8").splitlines()[1:]]
    assert all(installed.get(canonicalize_name(name), version) == version for name, version in tested)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [Requirement(each) for each in [*project["dependencies"], "setuptools"]]
    assert all(each.specifier.contains(installed[canonicalize_name(each.name)]) for each in wanted)
    assert not {"pytest", "mypy", "playwright"} & set(installed)


# The unit


def unit() -> ConfigParser:
    """The unit, with the last value of each name."""
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # names keep their capitals
    parser.read_string(UNIT.read_text("utf-8"))
    return parser


def test_the_unit_is_hardened() -> None:
    """The unit runs `run` as a user of its own, with a home for libraries, who writes to its state alone; what failed is restarted."""
    service = unit()["Service"]
    assert shlex.split(service["ExecStart"])[1:] == ["run"]
    expected = {
        "DynamicUser": "yes",
        "Environment": "HOME=/tmp",
        "StateDirectory": "vllm-digest",
        "WorkingDirectory": "/var/lib/vllm-digest",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "KillSignal": "SIGTERM",
        "Restart": "on-failure",
        "RestartPreventExitStatus": "2",
        "MemoryMax": "1G",
        "TasksMax": "256",
    }
    assert {name: service[name] for name in expected} == expected


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """systemd-analyze finds nothing wrong with it, its program being one that is here, and says that little is exposed."""
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text("utf-8").replace("/opt/vllm-digest/bin/vllm-digest", "/bin/true"), "utf-8")
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    command = ["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=15", str(copy)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0, "exposed by more than 1.5"


# The workflow


def test_the_workflow_runs_what_ci_runs() -> None:
    """The workflow runs .ci/run on each Python that the project names, may only read, and is superseded by the next push."""
    workflow, project = parsed(WORKFLOW), tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    job = workflow["jobs"]["test"]
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if "Python ::" in each]
    assert job["strategy"]["matrix"]["python"] == named
    assert project["requires-python"] == f">={named[0]}"
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["cancel-in-progress"]
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)
