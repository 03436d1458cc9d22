"""How much of a commit is taken in, whoever wrote it."""

from analysis.models import MOST_FILES, Commit, FileChange, PullRequest
from analysis.sources.git.history import MAX_PATCH
from analysis.sources.sanitize import MARK, MAX_LINE, MAX_PATCHES, MAX_TEXT, sanitized
from tests.conftest import NOON
from tests.planted import planted


def commit(message: str = "Change it", *patches: str, pull: PullRequest | None = None, author: str = "Ada") -> Commit:
    files = tuple(FileChange(path=f"part{number}.py", patch=patch) for number, patch in enumerate(patches))
    instants = {"authored_at": NOON, "committed_at": NOON}
    return Commit(sha="ab" * 20, url="", author=author, message=message, files=files, pull=pull, **instants)


def test_a_long_message_keeps_its_beginning() -> None:
    """A message of a megabyte is cut at the end of a line, and a mark says so; one that fits stays as it is."""
    found = sanitized(commit("Change it\n\n" + "one line\n" * 120_000)).message
    assert len(found) <= MAX_TEXT + len(MARK) + 2
    assert found.startswith("Change it\n\none line\n")
    assert found.endswith(f"one line\n\n{MARK}")
    fitting = "Change it\n\n" + "x" * (MAX_TEXT - 11)
    assert sanitized(commit(fitting)).message == fitting


def test_a_line_without_end_is_cut_between_words() -> None:
    """Of a title of a megabyte the words that fit are kept, of one without spaces nothing, and of Chinese what fits."""
    assert sanitized(commit("word " * 200_000)).message == f"{('word ' * (MAX_TEXT // 5)).rstrip()}\n\n{MARK}"
    assert sanitized(commit("x" * 1_000_000)).message == MARK
    assert sanitized(commit("改" * 1_000_000)).message == "改" * MAX_TEXT + f"\n\n{MARK}"


def test_names_and_pull_requests_are_bounded() -> None:
    """An author's name and a title are cut at a thousand characters, the text of a pull request as a message is."""
    pull = PullRequest(number=1, title="t " * 5_000, body="b\n" * 500_000)
    found = sanitized(commit(pull=pull, author="改" * 5_000))
    assert found.pull is not None
    assert max(len(found.author), len(found.pull.title)) <= MAX_LINE + len(MARK) + 2
    assert len(found.pull.body) <= MAX_TEXT + len(MARK) + 2


def test_large_patches_are_left_out() -> None:
    """A patch of more than GitHub shows is left out, and of many those that are too much together; the files stay."""
    line = "@@ -0,0 +1 @@\n+" + "x " * (MAX_PATCH // 2 - 8)
    found = sanitized(commit("Change it", line + "y" * MAX_PATCH, *[line] * 30)).files
    assert len(found) == 31
    assert found[0].patch is None
    shown = [len(each.patch) for each in found if each.patch]
    assert MAX_PATCHES - MAX_PATCH < sum(shown) <= MAX_PATCHES
    assert found[-1].patch is None


def test_of_too_many_files_no_patch_is_kept() -> None:
    """A commit whose counts tell of more files than are listed has no patches; one that is listed whole has all."""
    file = FileChange(path="a.py", additions=1, patch="@@ -0,0 +1 @@\n+a")
    whole = commit().model_copy(update={"files": (file,) * MOST_FILES, "additions": MOST_FILES})
    assert sanitized(whole) == whole
    cut = sanitized(whole.model_copy(update={"additions": MOST_FILES + 1}))
    assert {each.patch for each in cut.files} == {None}


def test_no_half_of_a_secret_is_left_where_a_text_is_cut() -> None:
    """A token that the cut would halve is gone, wherever in it the limit is."""
    tokens = [each.secret for each in planted().values() if not set(each.secret) & set(" \n")]
    assert tokens
    for secret in tokens[::5]:
        for kept in (4, len(secret) // 2, len(secret) - 2):
            found = sanitized(commit("a " * ((MAX_TEXT - kept) // 2) + secret)).message
            assert secret[: kept - 1] not in found
