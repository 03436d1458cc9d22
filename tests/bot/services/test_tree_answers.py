"""Questions for defaults, uses and origins of names, answered from a mirror's files and the history of one of them."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from analysis.llm import ChatModel
from analysis.models import Language, Repository
from analysis.questions.days_asked import QuestionScope
from analysis.questions.question import parse_question
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot.models.question_subject import QuestionSubject
from bot.models.subjects import DayRef
from bot.services.commit_sources import CommitSources
from bot.services.factory import Services
from bot.services.limits import MeteredModel
from bot.services.period_wording import PeriodQuestion
from bot.store import Store, open_engine
from tests.servers.bare import BareRepository, GitServer
from tests.servers.chat import ScriptedChat
from tests.servers.databases import empty_database

REPOSITORY = Repository.parse("o/engine")
NOON, DAY = 1_770_292_800, 86_400  # 2026-02-05
CONFIG = b"LIMIT = 8\n\n\nclass Config:\n    max_lanes: int = Field(default=LIMIT, ge=1)\n"
WITH_CACHE = CONFIG + b"    use_cache: bool = True\n"
USES = b"from engine.config import Config\n\n\ndef lanes(config):\n    # max_lanes of the config\n    return config.max_lanes\n\n\ndef sizes(envs):\n    return envs.LANE_SIZE\n\n\nclass LaneKind(Enum):\n    FAST = 1\n    SLOW = 2\n"


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    """The services of a repository whose twelve commits bring `use_cache` with the sixth, and drop `LANE_SIZE` with the ninth."""
    upstream, parent = BareRepository(tmp_path / "engine.git"), list[str]()
    for number in range(12):
        lines = [f"# {number}\n".encode(), b"LANE_WIDTH: int = 1\n", b"LANE_SIZE: int = 4\n" if number < 9 else b""]
        config = WITH_CACHE if number > 5 else CONFIG + b"#" * number
        torch = b"torch==2.9\n" if number < 5 else b"torch == 2.10\n"
        at = "engine/old/lanes.py" if number < 7 else "engine/lanes.py"
        files = {"engine/config.py": config, "engine/envs.py": b"".join(lines), at: USES, "requirements.txt": torch}
        sha = upstream.commit(files, *parent, message=f"Change {number}".encode(), at=NOON + number * DAY)
        parent = [sha]
    with ExitStack() as ending:
        server = ending.enter_context(GitServer({"o/engine": upstream}))
        github = ending.enter_context(closing(GitHub(server.url, None, retries=0)))
        store = ending.enter_context(closing(Store(open_engine(empty_database(tmp_path / "digest.db")))))
        mirrors = Mirrors(tmp_path / "mirrors", github, None)
        mirrors.updated(REPOSITORY, create=True)
        yield Services(github, store, None, CommitSources(github, mirrors, lambda _: True))


def answered(services: Services, question: str, language: Language = "en") -> list[str]:
    """The lines of the answer to a question without days."""
    asked = PeriodQuestion(parse_question(question), REPOSITORY, (), ZoneInfo("UTC"), language)
    return [each.text for each in services.period_questions.answer(asked, lambda _: pytest.fail("no day is read"))]


@pytest.mark.parametrize(
    ("question", "language", "first", "proof"),
    [
        ("what is the default of --max-lanes?", "en", "`--max-lanes` defaults to `LIMIT`.", "`LIMIT = 8`"),
        ("is use_cache on by default?", "en", "`use_cache` is on by default.", "`use_cache: bool = True`"),
        ("what is the default for max lanes?", "en", "`max_lanes` defaults to `LIMIT`.", "`LIMIT = 8`"),
        ("use_cache 的默认值是什么？", "zh", "`use_cache` 默认开启。", "`use_cache: bool = True`"),
        (
            "where is use_cache defined?",
            "en",
            "`use_cache` is defined in `engine/config.py`.",
            "`use_cache: bool = True`",
        ),
        ("who uses max_lanes?", "en", "`max_lanes` is used in 1 line at ", "`return config.max_lanes`"),
    ],
)
def test_the_files_at_the_head_answer_first(
    services: Services, question: str, language: Language, first: str, proof: str
) -> None:
    """The value or the number of uses stands in the first line, the code that says so below; no day is searched."""
    told = answered(services, question, language)
    assert told[0].startswith(first)
    assert proof in told[1:]


def test_a_typing_error_gets_the_nearest_name(services: Services) -> None:
    """A name that no file has is answered for the name that is spelled nearly so; without one it is said not to be found."""
    near = answered(services, "what is the default of max_lane?")
    assert near[:2] == ["`max_lane` is not found; taken for `max_lanes`.", "`max_lanes` defaults to `LIMIT`."]
    (told,) = answered(services, "what is the default of zyzzyva_9000?")
    assert "is not found in the files at" in told
    assert "Did you mean" not in told
    for name in ("lanes.old.max_lanes", "OldPool.max_lanes"):  # whose last part another module or class may have
        (told_of,) = services.answers.where([name], REPOSITORY, "en")
        assert "is not found in the files at" in told_of.text


@pytest.mark.parametrize(
    ("question", "told", "change"),
    [
        ("which version of torch do we require, and since when?", "`torch` is required as `==2.10`", "Change 5"),
        ("where did engine.old.lanes go?", "It moved to `engine/lanes.py`.", ""),
        ("how many lane kinds are there?", "`LaneKind` has 2 members at", ""),
        ("how many lane colours are there?", "Only commits are counted, not `lane colours`.", ""),
        ("since when is LANE_SIEZ gone?", "taken for `LANE_SIZE`", "Change 9"),
        ("when will 2.0 be released?", "does not tell what is to come", ""),
    ],
)
def test_the_head_tells_versions_modules_and_numbers(services: Services, question: str, told: str, change: str) -> None:
    """What is asked of the files as they are is told first, and of a version, or of a misspelt name that is gone, its commit."""
    lines = answered(services, question)
    assert told in " ".join(lines[:2])
    assert any(change in line for line in lines)


def test_since_when_a_name_is_there_or_gone_is_found_by_halving(services: Services) -> None:
    """The commit that brought a name is told alone, and the one that removed it from the file of names like it."""
    (there,) = (line for line in answered(services, "since when is there use_cache?") if "Change" in line)
    assert "Change 6" in there
    (default,) = (line for line in answered(services, "since when is use_cache on by default?") if "Change" in line)
    assert "Change 6" in default
    (gone,) = (line for line in answered(services, "since when is LANE_SIZE gone?") if "Change" in line)
    assert "Change 9" in gone


def test_a_model_sees_what_still_uses_a_removed_name(services: Services) -> None:
    """The prompt of the commit that removes a name has the lines of its files that use it, and no other prompt has them."""
    day = datetime.fromtimestamp(NOON + 9 * DAY, UTC)
    reply = json.dumps({"summary": "It is gone.", "scope": [], "insight": {}, "risks": [], "advice": [], "move": "keep", "move_reason": ""})  # fmt: skip
    with ScriptedChat(lambda _: reply) as chat, closing(ChatModel("scripted", base_url=chat.url)) as model:
        metered = MeteredModel(model, services.store.spending, lambda: day, at_once=1, daily_usd=1.0)
        at = Services(services.github, services.store, metered, services.sources)
        at.digests.report(DayRef(REPOSITORY, day.date(), "UTC", "en"), day)
    [prompt] = (each["messages"][1]["content"] for each in chat.requests[:1])
    assert "removes or renames:\nengine/lanes.py: return envs.LANE_SIZE\n" in prompt


def test_the_commits_of_a_path_are_those_of_the_mirror(services: Services) -> None:
    """Nothing is stored; the latest commits that changed the file are told, newest first."""
    lines = [line for line in answered(services, "which commits changed engine/config.py?") if "Change" in line]
    assert ["Change 6" in line for line in lines] == [True, False, False]


def test_a_last_week_without_commits_is_no_answer(services: Services) -> None:
    """Who names no days is answered from all that is known where the last ones have no commits; who names them is told so."""
    found = QuestionScope("anything about LANE_SIZE?", (date(2026, 6, 1),), lately=True)

    def answer(scope: QuestionScope) -> list[str]:
        subject = QuestionSubject(scope, [REPOSITORY], by_question=True)
        read = partial(services.digests.report, now=datetime(2026, 6, 2, tzinfo=UTC), ask=False)
        told = services.period_questions.answer_subject(subject, scope.text, "en", ZoneInfo("UTC"), read)
        return [each.text for each in told]

    assert answer(found)[0] == "In the history of `o/engine`:"
    assert answer(found._replace(lately=False))[1] == "There are no commits here."
