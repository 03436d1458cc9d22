"""Publishing: one commit a day, none without a change, never over what somebody else wrote."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from analysis.errors import AccessDenied, BranchMoved, DigestError, Misuse, RateLimited, Unreachable
from analysis.models import Failure, Repository
from analysis.report.markdown import reports_markdown
from bot.publishing.folder import FolderTarget
from bot.publishing.publisher import MoreCompleteError, OtherTimezoneError, Target, publish
from tests.bot.publishing.reports import HOME, LATER, NOW, github_target, on, sample_report, target_at, unread
from tests.servers.github import Fault
from tests.servers.writable import NAME, PublishingGitHub, WritableRepository

DAY = date(2026, 2, 5)
WRITTEN = {
    f"{HOME}/2026-02-05.md",
    f"{HOME}/2026-02-05.html",
    f"{HOME}/README.md",
    f"{HOME}/index.json",
    "reports/lantern-serve.atom",
    "reports/lantern-serve-breaking.atom",
}


class Shown(NamedTuple):
    """A target, what it holds, and the way somebody else writes to it."""

    target: Target
    files: Callable[[], dict[str, str]]
    write: Callable[[str, str], object]


@contextmanager
def _folder(path: Path) -> Iterator[Shown]:
    def files() -> dict[str, str]:
        return {str(each.relative_to(path)): each.read_text() for each in path.rglob("*") if each.is_file()}

    def write(name: str, text: str) -> None:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)

    yield Shown(FolderTarget(path), files, write)


@contextmanager
def _branch(_: Path) -> Iterator[Shown]:
    repository = WritableRepository()
    with github_target(repository) as target:
        others = {"README.md"}
        yield Shown(
            target,
            lambda: {path: text for path, text in repository.files().items() if path not in others},
            lambda path, text: repository.push({path: text}),
        )


Open = Callable[[Path], AbstractContextManager[Shown]]
EVERYWHERE = pytest.mark.parametrize("where", [_folder, _branch])


@EVERYWHERE
def test_a_day_is_published_with_its_index_and_feeds(where: Open, tmp_path: Path) -> None:
    """The Markdown is that of `digest --format markdown`, and every file is recorded in the index."""
    with where(tmp_path) as shown:
        assert publish(shown.target, sample_report(), NOW)
        found = shown.files()
        assert set(found) == WRITTEN
        assert found[f"{HOME}/2026-02-05.md"] == reports_markdown([sample_report()])
        index = json.loads(found[f"{HOME}/index.json"])
        assert set(index["files"]) == WRITTEN - {f"{HOME}/index.json"}
        assert [(each["date"], each["stats"]["total"]) for each in index["days"]] == [("2026-02-05", 25)]


@EVERYWHERE
def test_the_same_day_again_changes_nothing(where: Open, tmp_path: Path) -> None:
    """A later run with the same content leaves every byte, and says that nothing changed."""
    with where(tmp_path) as shown:
        publish(shown.target, sample_report(), NOW)
        before = shown.files()
        assert not publish(shown.target, sample_report(), LATER)
        assert shown.files() == before


@EVERYWHERE
def test_a_changed_day_is_updated(where: Open, tmp_path: Path) -> None:
    """Only its own time changes; the other day keeps its own."""
    with where(tmp_path) as shown:
        publish(shown.target, on(DAY - timedelta(days=1)), NOW)
        publish(shown.target, sample_report(), NOW)
        assert publish(shown.target, on(DAY, entries=sample_report().entries[:3]), LATER)
        days = json.loads(shown.files()[f"{HOME}/index.json"])["days"]
        assert [(each["date"], each["updated"]) for each in days] == [
            ("2026-02-05", "2026-02-07T01:00:00Z"),
            ("2026-02-04", "2026-02-06T01:00:00Z"),
        ]


@EVERYWHERE
def test_a_published_day_loses_no_commit(where: Open, tmp_path: Path) -> None:
    """A day with more unread commits does not replace it; one with fewer does."""
    worse, bad, whole = (unread(sample_report(), number) for number in (2, 1, 0))
    with where(tmp_path) as shown:
        assert publish(shown.target, bad, NOW)
        before = shown.files()
        with pytest.raises(MoreCompleteError, match="with more commits read, and keeps it"):
            publish(shown.target, worse, LATER)
        assert shown.files() == before
        assert publish(shown.target, whole, LATER)
        with pytest.raises(MoreCompleteError):
            publish(shown.target, bad, LATER)
        assert shown.files()[f"{HOME}/2026-02-05.md"] == reports_markdown([whole])


def test_reasons_of_failures_stay_with_the_operator(tmp_path: Path) -> None:
    """No file names a host or a setting; each tells in general words what is missing."""
    report = unread(sample_report(), 2)
    why = "http://10.0.0.7:8000/v1 did not respond; check OPENAI_BASE_URL"
    replaced = (Failure(sha=report.entries[3].commit.sha, stage="analyse", reason=why),)
    publish(FolderTarget(tmp_path), report.model_copy(update={"replaced": replaced}), NOW)
    files = {each.name: each.read_text() for each in tmp_path.rglob("*") if each.is_file()}
    for name in ("2026-02-05.md", "2026-02-05.html"):
        assert files[name].count("could not be read: its changes were not available") == 2
        assert "the model did not analyse it" in files[name]
    assert not [name for name, text in files.items() if re.search(r"did not respond|127\.0|10\.0\.0|_URL", text)]


@EVERYWHERE
@pytest.mark.parametrize("path", sorted(WRITTEN))
def test_what_somebody_else_wrote_is_not_overwritten(where: Open, path: str, tmp_path: Path) -> None:
    """A file that is there before us is refused by name, and nothing is written."""
    with where(tmp_path) as shown:
        shown.write(path, "Mine.\n")
        before = shown.files()
        with pytest.raises(Misuse, match=r"was not written by vllm-digest") as refused:
            publish(shown.target, sample_report(), NOW)
        assert path in str(refused.value)
        assert shown.files() == before


@EVERYWHERE
def test_what_somebody_changed_is_not_overwritten(where: Open, tmp_path: Path) -> None:
    """Our own file with somebody's edit is theirs."""
    with where(tmp_path) as shown:
        publish(shown.target, sample_report(), NOW)
        shown.write(f"{HOME}/2026-02-05.md", "Edited.\n")
        with pytest.raises(Misuse, match=r"2026-02-05\.md of .* was changed since"):
            publish(shown.target, sample_report(), LATER)


@EVERYWHERE
def test_a_repository_of_the_same_name_is_refused(where: Open, tmp_path: Path) -> None:
    """Its index names another repository."""
    with where(tmp_path) as shown:
        publish(shown.target, sample_report(), NOW)
        other = sample_report().model_copy(update={"repository": Repository.parse("acme/lantern-serve")})
        with pytest.raises(
            Misuse, match="has the reports of lantern/lantern-serve; publish acme/lantern-serve elsewhere"
        ):
            publish(shown.target, other, NOW)


@EVERYWHERE
def test_a_second_language_has_a_suffix(where: Open, tmp_path: Path) -> None:
    """The first language keeps the plain names, in later years too."""
    with where(tmp_path) as shown:
        publish(shown.target, sample_report(), NOW)
        publish(shown.target, on(date(2027, 1, 1), sample_report("zh")), NOW)
        assert "reports/2027/lantern-serve.zh/2027-01-01.md" in shown.files()
        assert "reports/lantern-serve.zh.atom" in shown.files()
        assert not publish(shown.target, on(date(2027, 1, 1), sample_report("zh")), LATER)


@EVERYWHERE
def test_another_time_zone_is_refused(where: Open, tmp_path: Path) -> None:
    """Its days would have the names of others."""
    with where(tmp_path) as shown:
        publish(shown.target, sample_report(), NOW)
        with pytest.raises(OtherTimezoneError, match="in Asia/Shanghai; publish those in UTC elsewhere"):
            publish(shown.target, sample_report().model_copy(update={"timezone": "UTC"}), NOW)


@EVERYWHERE
def test_the_feeds_go_on_in_a_new_year(where: Open, tmp_path: Path) -> None:
    """The newest year's index records them; an older day that is published later is found in them, too."""
    with where(tmp_path) as shown:
        for day in (date(2026, 12, 31), date(2027, 1, 1), date(2026, 12, 30), date(2027, 1, 2)):
            assert publish(shown.target, on(day), NOW)
        feed = shown.files()["reports/lantern-serve.atom"]
        assert [feed.count(f"<title>lantern/lantern-serve · {day} ·") for day in ("2026-12-30", "2027-01-02")] == [1, 1]


def test_a_day_is_one_commit() -> None:
    """Its message says what it does; an unchanged day makes none."""
    repository = WritableRepository()
    with github_target(repository) as target:
        for report in (sample_report(), sample_report(), on(DAY, entries=())):
            publish(target, report, NOW)
        about = "the digest of 2026-02-05 of lantern/lantern-serve"
        assert repository.messages() == ["Begin", f"Add {about}", f"Update {about}"]


def test_the_commit_of_a_second_language_names_it() -> None:
    """Else the two would have the same message."""
    repository = WritableRepository()
    with github_target(repository) as target:
        for language in ("en", "zh"):
            publish(target, sample_report(language), NOW)
    about = "Add the digest of 2026-02-05 of lantern/lantern-serve"
    assert repository.messages()[1:] == [about, f"{about} in Chinese"]


def test_a_branch_that_moved_is_read_again() -> None:
    """What somebody else pushed meanwhile stays, and the day is committed on top."""
    repository = WritableRepository()
    repository.before_moving = lambda: repository.push({"notes.txt": "Mine.\n"}, "Note")
    with github_target(repository) as target:
        assert publish(target, sample_report(), NOW, pause=0)
        assert repository.messages()[1:] == ["Note", "Add the digest of 2026-02-05 of lantern/lantern-serve"]
        assert repository.files()["notes.txt"] == "Mine.\n"


def test_a_branch_that_keeps_moving_is_given_up() -> None:
    """After a few attempts the error says so; later it is tried again."""
    repository = WritableRepository()

    def move() -> None:
        repository.push({"notes.txt": str(len(repository.commits))}, "Note")
        repository.before_moving = move

    repository.before_moving = move
    with github_target(repository) as target, pytest.raises(BranchMoved, match=f"{NAME}@main moved"):
        publish(target, sample_report(), NOW, pause=0)
    assert not any(path.startswith("reports/") for path in repository.files())


def test_a_missing_branch_is_created() -> None:
    """Its first commit holds the reports alone."""
    repository = WritableRepository()
    with github_target(repository, "pages") as target:
        publish(target, sample_report(), NOW)
    assert set(repository.files("pages")) == WRITTEN
    assert len(repository.messages("pages")) == 1


def test_an_empty_repository_is_begun() -> None:
    """GitHub takes one file as its first commit: an index without days."""
    repository = WritableRepository(empty=True)
    with github_target(repository) as target:
        publish(target, sample_report(), NOW)
        assert not publish(target, sample_report(), LATER)
    assert repository.messages() == ["Begin the reports", "Add the digest of 2026-02-05 of lantern/lantern-serve"]
    assert set(repository.files()) == WRITTEN


def test_an_empty_repository_has_its_default_branch_alone() -> None:
    """Another branch is refused before anything is written."""
    repository = WritableRepository(empty=True)
    with (
        github_target(repository, "pages") as target,
        pytest.raises(Misuse, match="publish to its default branch first"),
    ):
        publish(target, sample_report(), NOW)
    assert repository.messages() == []


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"may_push": False}, AccessDenied, "the token may not write to acme/reports"),
        ({"archived": True}, AccessDenied, "acme/reports is archived"),
        ({"protected": True}, AccessDenied, "branch main of acme/reports is protected"),
    ],
)
def test_a_repository_that_cannot_be_written_is_said(
    change: dict[str, bool], kind: type[DigestError], words: str
) -> None:
    """One sentence names the repository and what to do; nothing is written."""
    repository = WritableRepository()
    for name, value in change.items():
        setattr(repository, name, value)
    with github_target(repository) as target, pytest.raises(kind, match=words):
        publish(target, sample_report(), NOW)
    assert repository.messages() == ["Begin"]


_LIMIT = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4000000000"}


@pytest.mark.parametrize("step", [r"reports$", r"git/ref/", r"git/trees", r"git/commits$", r"git/refs"])
@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (Fault("", 401), AccessDenied, "check DIGEST_PUBLISH_TOKEN"),
        (Fault("", 403, body={"message": "Must have admin rights."}), AccessDenied, "may not write to acme/reports"),
        (Fault("", 403, headers=_LIMIT, body={"message": "API rate limit exceeded"}), RateLimited, "rate limit"),
        (
            Fault(
                "", 403, headers={"Retry-After": "900"}, body={"message": "You have exceeded a secondary rate limit"}
            ),
            RateLimited,
            "rate limit",
        ),
        (Fault("", 500), Unreachable, "127.0.0.1"),
        (Fault("", drop=True), Unreachable, "did not respond"),
    ],
)
def test_a_fault_at_any_step_leaves_nothing(step: str, fault: Fault, kind: type[DigestError], words: str) -> None:
    """The error says what to do in one line, and the next run publishes the day."""
    repository = WritableRepository()
    with PublishingGitHub({}, repository) as server:
        server.faults.append(fault._replace(match=step, times=9))
        with pytest.raises(kind, match=words) as raised:
            publish(target_at(server), sample_report(), NOW)
        assert "\n" not in str(raised.value)
        assert repository.messages() == ["Begin"]
        server.faults.clear()
        publish(target_at(server), sample_report(), LATER)
    assert repository.messages()[1:] == ["Add the digest of 2026-02-05 of lantern/lantern-serve"]


def test_a_repository_that_is_unknown_is_said() -> None:
    """GitHub answers 404 as well when the token may not see it."""
    with PublishingGitHub({}, WritableRepository()) as server:
        server.faults.append(Fault("reports$", 404))
        with pytest.raises(Misuse, match="acme/reports does not exist, or the token may not write to it"):
            publish(target_at(server), sample_report(), NOW)
