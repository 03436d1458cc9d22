"""What is indexed of a text and of a commit."""

from analysis.models import PullRequest
from analysis.search.words import commit_words, names, searchable, split_words
from tests.factories import commit, file


def test_camel_case_is_indexed_in_parts_once() -> None:
    """A name is kept as it is, and its parts are added at the end, also those of a part of a longer name."""
    text = "in KVConnector, KVConnector and getHTTP"
    assert searchable(text) == f"{text} KV Connector get HTTP"
    assert searchable("snake_case and UPPER") == "snake_case and UPPER"
    assert searchable("old_KVCache") == "old_KVCache KV Cache"


def test_names_are_those_of_code() -> None:
    """Names and flags are found whole, no figures, no hashes and no single letters."""
    assert names("x = self.get_KV(10, '--max-len=3', a-b, 0xdeadbeef)") == ["self", "get_KV", "--max-len"]
    assert names("a" * 100) == []


def test_a_commit_is_indexed_by_its_changed_lines() -> None:
    """Names of added and removed lines and of a hunk's heading are indexed once, context and generated files are not."""
    patch = "@@ -1,3 +1,3 @@ def outer_call(self):\n context_name\n-old_name(KVCache)\n+new_name(old_name)"
    words = commit_words(commit("t", [file("pkg/core.py", patch)]))
    assert words.code == "def outer_call self old_name KVCache new_name KV Cache"
    assert commit_words(commit("t", [file("pkg/core_pb2.py", patch)])).code == ""


def test_a_commit_is_indexed_by_all_that_its_author_wrote() -> None:
    """The message and the pull request's text are indexed, without trailers."""
    pull = PullRequest(number=3, title="Fix it (better)", body="It was slow.")
    words = commit_words(commit("Fix it (#3)\n\nBecause.\n\nSigned-off-by: Ada <a@b>", pull=pull))
    assert words.title == "Fix it (#3)"
    assert split_words(words.message) == ["because", "fix", "it", "better", "it", "was", "slow"]
