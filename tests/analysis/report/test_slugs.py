"""The addresses of a document's headings, as GitHub makes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.report.markdown import Slugs


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Summary", "summary"),
        ("  Two words ", "two-words"),
        ("a  b", "a--b"),
        ("vllm-project/vllm", "vllm-projectvllm"),
        ("snake_case_name", "snake_case_name"),
        ("📊 统计摘要", "-统计摘要"),
        ("🔴 高重要度变更 (3)", "-高重要度变更-3"),
        ("[Bugfix][Core] Fix foo in bar_baz (#123)", "bugfixcore-fix-foo-in-bar_baz-123"),
        ("Café, naïve & co.", "café-naïve--co"),
        ("每日更新报告（2026-02-05）", "每日更新报告2026-02-05"),
        ("हिन्दी", "हिन्दी"),
        ("C++ / C#", "c--c"),
        ("!!!", ""),
    ],
)
def test_a_heading_has_githubs_address(heading: str, slug: str) -> None:
    """Lower case, hyphens for spaces, and nothing but letters, marks, digits, underscores and hyphens."""
    assert Slugs()(heading) == slug


@pytest.mark.parametrize(
    ("headings", "slugs"),
    [
        (["A", "a", "A!"], ["a", "a-1", "a-2"]),
        (["a", "a-1", "a"], ["a", "a-1", "a-2"]),
        (["a", "a", "a-1", "a-1"], ["a", "a-1", "a-1-1", "a-1-2"]),
        (["a-1", "a", "a"], ["a-1", "a", "a-2"]),
        (["!", "?"], ["", "-1"]),
    ],
)
def test_a_repeated_heading_is_numbered(headings: list[str], slugs: list[str]) -> None:
    """The second of a name ends in -1, and steps over an address that another heading already has."""
    ask = Slugs()
    assert [ask(heading) for heading in headings] == slugs


@given(st.lists(st.text("aA1- !", max_size=4), max_size=30))
def test_no_two_headings_share_an_address(headings: list[str]) -> None:
    """However headings repeat and imitate each other's numbers, every address is one heading's."""
    ask = Slugs()
    slugs = [ask(heading) for heading in headings]
    assert len(set(slugs)) == len(slugs)


def test_documents_number_their_headings_by_themselves() -> None:
    """A new document begins anew."""
    assert (Slugs()("a"), Slugs()("a")) == ("a", "a")
