"""Configuration, requests and routes: what is refused from now on."""

from collections.abc import Sequence

import pytest

from analysis.facts import facts
from analysis.locale import catalogue
from analysis.models import FactKind
from analysis.writing.by_rules import list_names
from tests.analysis.facts.told import breaking, changed, module, told
from tests.factories import commit


@pytest.mark.parametrize(
    ("path", "under", "lines", "found"),
    [
        (
            "engine/config.py",
            "class CacheConfig:",
            ["-    swap: int = 4"],
            ("removed configuration key", "CacheConfig.swap"),
        ),
        (
            "engine/args.py",
            "class EngineArgs(Base):",
            ["-    swap: int"],
            ("removed configuration key", "EngineArgs.swap"),
        ),
        (
            "engine/config.py",
            "class CacheConfig:",
            ["-    exclude_logs: bool = False", "+    exclude_log: bool = False"],
            ("renamed configuration key", "CacheConfig.exclude_logs"),
        ),
        (
            "engine/api/protocol.py",
            "class ChatRequest(BaseModel):",
            ["-    echo: bool"],
            ("removed API field", "ChatRequest.echo"),
        ),
        (
            "engine/openai/serve.py",
            "class Delta(OpenAIBaseModel):",
            ["-    echo: bool"],
            ("removed API field", "Delta.echo"),
        ),
        (
            "engine/server.py",
            "",
            ['-@router.post("/v1/echo")', "-async def _echo():"],
            ("removed HTTP route", "/v1/echo"),
        ),
        (
            "engine/server.py",
            "",
            ["-@router.post(", '-    "/v1/echo",', "-    dependencies=[],", "-)", "-async def _echo():"],
            ("removed HTTP route", "/v1/echo"),
        ),
        ("engine/server.py", "", ['-app.add_api_route("/v1/echo", _echo)'], ("removed HTTP route", "/v1/echo")),
        ("engine/server.py", "", ['-app.router.add_get("/v1/echo", _echo)'], ("removed HTTP route", "/v1/echo")),
        (
            "engine/server.py",
            "",
            ['-@router.post("/v1/echo")', '+@router.post("/v1/echoes")', " async def _echo(): ..."],
            ("renamed HTTP route", "/v1/echo"),
        ),
        (
            "engine/metrics.py",
            "",
            [
                "-tokens = prometheus_client.Counter(",
                '-    name="engine:tokens_total",',
                '-    documentation="Tokens."',
                "-)",
            ],
            ("removed metric", "engine:tokens_total"),
        ),
        (
            "engine/metrics.py",
            "",
            [
                '-busy = self._gauge_cls("engine_busy", "Share.")',
                '+busy = self._gauge_cls("engine_busy_ratio", "Share.")',
            ],
            ("renamed metric", "engine_busy"),
        ),
    ],
)
def test_what_people_write_down_is_missed(path: str, under: str, lines: Sequence[str], found: tuple[str, str]) -> None:
    """Keys of configurations, fields of requests and messages, and routes of every shape."""
    assert breaking(changed(path, *lines, under=under)) == [found]


@pytest.mark.parametrize(
    ("path", "under", "lines"),
    [
        ("engine/config.py", "def build():", ["-    swap: int = 4"]),  # a local
        ("engine/words.py", "", ['-counted = Counter("some_words")']),  # no metric
        ("engine/config.py", "class CacheConfig:", ["-        swap: int = 4"]),  # a method's local
        ("engine/config.py", "class CacheConfig:", ["-    _swap: int = 4"]),
        ("engine/config.py", "class CacheConfig:", ["-    swap: int,"]),  # a parameter cut by the hunk
        ("engine/config.py", "class CacheConfig:", ["-    swap: int = 4", "+    swap: int = 5"]),
        (
            "engine/config.py",
            "class CacheConfig:",
            ["-    swap: int = 4", "+    @property", "+    def swap(self): ..."],
        ),
        ("tests/config.py", "class CacheConfig:", ["-    swap: int = 4"]),
        ("kernels/tuned.json", "", ['-  "16": {']),
        ("engine/server.py", "", ['-@router.post("/v1/echo")', '+@app.post("/v1/echo")']),
        ("engine/server.py", "", ['-client.fetch("/v1/echo")']),
        ("tests/server.py", "", ['-@router.post("/v1/echo")']),
    ],
)
def test_what_nobody_writes_down_is_not(path: str, under: str, lines: Sequence[str]) -> None:
    """Locals, parameters, private fields, what stays, and tests prove nothing."""
    assert breaking(changed(path, *lines, under=under)) == []


def test_a_route_is_gone_from_its_server() -> None:
    """Another server may answer it: the file is told."""
    gone = changed("engine/server.py", '-@router.get("/health")', "-async def _health(): ...")
    (fact,) = facts(commit(files=[gone]))
    assert list_names([fact], catalogue("en")) == "`/health` from `engine/server.py`"


def test_a_key_that_takes_less_is_told() -> None:
    """The type of a configuration's field is compared with what it was, unless only a type checker gains from it."""
    file = module(["-    swap: int | str = load()", "+    swap: int = load()"], "class CacheConfig:")
    assert told(FactKind.RETYPED, file) == [("CacheConfig.swap", "int | str", "int")]
    tidied = module(["-    swap: int | None = load()", "+    swap: int = load()"], "class CacheConfig:")
    assert told(FactKind.RETYPED, tidied) == []


def test_a_key_with_another_type_for_another_default_is_told_once() -> None:
    """The default says both."""
    file = module(["-    swap: int | str = 4", '+    swap: str = "4 GiB"'], "class CacheConfig:")
    assert told(FactKind.RETYPED, file) == []
    assert told(FactKind.DEFAULT_CHANGED, file) == [("CacheConfig.swap", "4", '"4 GiB"')]
