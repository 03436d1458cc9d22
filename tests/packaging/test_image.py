"""The steps of the Dockerfile, run one by one where there is no Docker: its paths below a scratch folder, its user without rights.

Two steps are left out: what apt-get installs and useradd adds are the machine's. Instead of an index, pip finds the suite's
dependencies in the image's environment, as far as requirements.txt and pyproject.toml agree with them.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.request import urlopen

import pytest

from loopback.slack import LoopbackSlack
from tests.packaging.environments import ROOT, copy, foreign_environment, kept_files, lend_dependencies
from tests.servers.running import free_port

_PATIENCE = 120  # seconds
_MINE = os.getuid() != 0  # without root the steps and the bot run as whoever runs the suite
_LEFT_OUT = ("apt-get", "useradd")
_METRICS_PORT = "9464"


class Instruction(NamedTuple):
    name: str
    value: str

    def words(self) -> list[str]:
        return json.loads(self.value) if self.value.startswith("[") else shlex.split(self.value)


def instructions() -> list[Instruction]:
    """Return the instructions of the Dockerfile, without comments, each on one line."""
    lines = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [Instruction(*line.split(maxsplit=1)) for line in joined.splitlines() if line]


def context() -> list[str]:
    """Return the files of the repository that .dockerignore lets the image have; the last line that matches a path decides."""
    rules = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"]

    def is_sent(name: str) -> bool:
        folders = [name, *map(str, Path(name).parents)]
        matching = [rule for rule in rules if any(fnmatch(each, rule.lstrip("!")) for each in folders)]
        return not matching or matching[-1].startswith("!")

    return [name for name in kept_files() if is_sent(name)]


class Image:
    """What the Dockerfile builds, its root folder being `root`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self._earlier = folder / "earlier"  # the root folder of the stage before
        self._workdir = "/"
        self.settings: dict[str, str] = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        self.left_out: list[str] = []
        self.user = ""
        self.entrypoint: list[str] = []
        self.command: list[str] = []
        self.health: list[str] = []

    def at(self, path: str) -> Path:
        return self.root / str(Path(self._workdir, path)).lstrip("/")

    def mapped(self, text: str) -> str:
        """Return text with the image's own paths as they are on this machine."""
        return re.sub(r"(?<![\w/.])/(?=(opt|srv)/)", f"{self.root}/", text)

    @property
    def workdir(self) -> Path:
        return self.at("")

    def build(self) -> None:
        steps = {
            "ARG": self._set,
            "FROM": self._begin_stage,
            "WORKDIR": self._enter,
            "COPY": self._copy,
            "RUN": self._run,
            "ENV": self._set,
            "VOLUME": self._check_volume,
            "USER": self._become,
            "HEALTHCHECK": self._check_health_by,
            "ENTRYPOINT": self._enter_by,
            "CMD": self._run_by_default,
        }
        for each in instructions():
            steps[each.name](each)

    def _begin_stage(self, instruction: Instruction) -> None:
        assert re.match(r"\$\{BASE_IMAGE\}( AS build)?$", instruction.value)
        assert re.match(r"python:3\.\d+-slim(@sha256:[0-9a-f]{64})?$", self.settings["BASE_IMAGE"])
        if self.root.exists():
            self.root.rename(self._earlier)
        self.root.mkdir()
        self._workdir = "/"

    def _enter(self, instruction: Instruction) -> None:
        self._workdir = instruction.value
        self.workdir.mkdir(parents=True, exist_ok=True)

    def _copy(self, instruction: Instruction) -> None:
        *sources, destination = instruction.words()
        if sources[0].startswith("--from="):
            # Programs of an environment know its path.
            assert sources == ["--from=build", destination]
            self.at(destination).parent.mkdir(parents=True, exist_ok=True)
            (self._earlier / destination.lstrip("/")).rename(self.at(destination))
            return
        for source in sources:
            found = [name for name in context() if name == source or name.startswith(f"{source}/")]
            assert found, f"{source} is not sent"
            assert destination in (source, "./")
            copy(found, self.workdir)

    def _run(self, instruction: Instruction) -> None:
        if (program := instruction.value.split()[0]) in _LEFT_OUT:
            self.left_out.append(program)
            return
        command = self.mapped(instruction.value)
        if _MINE:
            command = re.sub(r" --(owner|group)=\d+", "", command)
        environment = foreign_environment(PIP_NO_BUILD_ISOLATION="0") | self.settings
        subprocess.run(command, shell=True, cwd=self.workdir, env=environment, check=True, timeout=_PATIENCE)
        if "-m venv" in command:
            lend_dependencies(Path(command.split()[-1]))

    def _set(self, instruction: Instruction) -> None:
        for word in instruction.words():
            name, _, value = self.mapped(word).partition("=")
            self.settings[name] = value.replace("$PATH", self.settings["PATH"])

    def _check_volume(self, instruction: Instruction) -> None:
        assert self.at(instruction.value).is_dir(), "the volume would be root's"

    def _become(self, instruction: Instruction) -> None:
        self.user = instruction.value

    def _check_health_by(self, instruction: Instruction) -> None:
        self.health = Instruction("CMD", instruction.value.partition("CMD ")[2]).words()

    def _enter_by(self, instruction: Instruction) -> None:
        self.entrypoint = instruction.words()

    def _run_by_default(self, instruction: Instruction) -> None:
        self.command = instruction.words()

    def as_its_user(self, command: Sequence[str]) -> list[str]:
        """Return the command as the image's user, who may read what root may, where this interpreter can be, and write nothing of it."""
        if _MINE:
            return list(command)
        user, group = self.user.split(":")
        reads = "-all,+dac_read_search"
        capabilities = [f"--inh-caps={reads}", f"--ambient-caps={reads}", f"--bounding-set={reads}", "--no-new-privs"]
        return ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", *capabilities, "--", *command]


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        built = Image(folder)
        built.build()
        yield built


def test_the_image_holds_no_more_than_it_needs() -> None:
    """Of the repository the image gets the packages and what describes them: no test, no secret, no data and no history."""
    sent = context()
    assert {name.split("/")[0] for name in sent} == {
        *("analysis", "bot", "loopback", "LICENSE", "README.md", "pyproject.toml", "requirements.txt"),
    }
    assert not re.search(r"index-url|find-links|https?://(?!127\.0\.0\.1)", (ROOT / "Dockerfile").read_text("utf-8"))


def test_the_image_runs_the_bot(image: Image) -> None:
    """Built step by step it starts as a user without rights, becomes healthy, answers Slack, and ends within seconds of SIGTERM."""
    assert image.left_out == ["apt-get", "useradd"]
    port = str(free_port())
    health = [each.replace(_METRICS_PORT, port) for each in image.health]
    assert health != image.health
    command = image.as_its_user([*image.entrypoint, *image.command, "--metrics-port", port])
    temporary = image.root / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    told = image.root / "told.txt"
    with LoopbackSlack() as slack, told.open("wb") as errors:
        environment = foreign_environment(
            TMPDIR=str(temporary),
            SLACK_BOT_TOKEN=slack.bot_token,
            SLACK_APP_TOKEN=slack.app_token,
            SLACK_API_URL=slack.url,
            DIGEST_LANGUAGE="en",
            LOG_LEVEL="warning",
        )
        del environment["HOME"]
        environment |= image.settings
        with subprocess.Popen(command, cwd=image.workdir, env=environment, stderr=errors) as bot:
            try:
                wait_until_healthy(bot, image.as_its_user(health), environment, told)
                slack.command("U0ADA", "C0DIGEST", "help")
                slack.wait_for(lambda: slack.private("U0ADA", "C0DIGEST"))
                bot.terminate()
                assert bot.wait(10) == 0, "docker stop waits for 10 seconds"
            finally:
                bot.kill()
        assert ask(image.as_its_user(health), environment) != 0
    assert told.read_text("utf-8").splitlines() == [
        "vllm-digest is running",
        "vllm-digest is stopping; unfinished work resumes at the next start",
    ]
    assert sorted(each.name for each in image.workdir.iterdir()) == ["data"]
    assert (image.workdir / "data" / "digest.db").is_file()


def test_what_is_installed_works_where_there_is_no_repository(image: Image, tmp_path: Path) -> None:
    """It tells its version, prints the sample day in Chinese, by its catalogue, and serves the local workspace's page."""
    program = image.at("/opt/vllm-digest/bin/vllm-digest")

    def printed(*arguments: str) -> str:
        command, environment = [str(program), *arguments], foreign_environment()
        ran = subprocess.run(
            command, cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=_PATIENCE, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert printed("--version") == f"vllm-digest {project['version']}\n"
    assert "影响使用者" in printed("digest", "--sample", "--lang", "zh")
    settings = foreign_environment(TMPDIR=str(tmp_path))
    with subprocess.Popen([program, "run"], cwd=tmp_path, env=settings, text=True, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            told = [process.stderr.readline() for _ in range(5)]
            with urlopen(told[1].split()[-1], timeout=60) as page:
                assert b"vllm-digest" in page.read()
            process.send_signal(signal.SIGTERM)
            assert process.wait(_PATIENCE) == 0
        finally:
            process.kill()


def wait_until_healthy(
    bot: "subprocess.Popen[bytes]", health: list[str], environment: dict[str, str], told: Path
) -> None:
    deadline = time.monotonic() + _PATIENCE
    while ask(health, environment) != 0:
        assert bot.poll() is None, told.read_text("utf-8")
        assert time.monotonic() < deadline, told.read_text("utf-8")
        time.sleep(0.5)


def ask(health: list[str], environment: dict[str, str]) -> int:
    """Return the exit code of the health check, which does not take the way through the proxy to its own machine."""
    proxied = environment | {"http_proxy": "http://127.0.0.1:9"}
    return subprocess.run(health, env=proxied, check=False, capture_output=True, timeout=_PATIENCE).returncode
