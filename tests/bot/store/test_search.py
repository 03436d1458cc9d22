"""What is indexed, and what finds it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine

from analysis.models import Repository
from analysis.search.text_search import parse_text_query, rank_candidates
from analysis.search.words import IndexedCommit, searchable
from bot.store import Store
from bot.store.search_index import create_index, fts5_candidates
from tests.conftest import NOON
from tests.factories import commit

ENGINE = create_engine("sqlite://")
with ENGINE.begin() as created:
    create_index(created)


def found(text: str, query: str) -> bool:
    """Whether SQLite finds `text` by `query`, and the ranking agrees; an empty query finds nothing."""
    parsed = parse_text_query(query)
    if not parsed.terms:
        return False
    held = dict.fromkeys(parsed.terms, 1)
    with ENGINE.begin() as connection:
        connection.exec_driver_sql("DELETE FROM commit_search")
        connection.exec_driver_sql(
            "INSERT INTO commit_search (rowid, title, summary) VALUES (1, ?, '')", (searchable(text),)
        )
        ids = fts5_candidates(connection, parsed, held, (), 1)
    ranked = rank_candidates(parsed, [IndexedCommit(each, NOON, searchable(text), "", "", "") for each in ids], held, 1)
    assert len(ranked) == len(ids)
    return bool(ranked)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Fix double free in KV cache", "double free"),
        ("Fix double free in KV cache", "cache FIX"),
        ("Fix double free", "dou fre"),
        ("Fix double free", "triple double"),
        ("Fix double free", '"double free" triple'),
        ("Fix double free", "“double free”"),
        ("Fix double free", '+"double free" +fix'),
        ("what is new", "what is new"),
        ("get_KVCache", "cache"),
        ("Rename KVConnectorBase", "kvconnectorbase"),
        ("Rename KVConnectorBase", "connector"),
        ("Rename KVConnectorBase", "KVConn"),
        ("getHTTPResponse", "http resp"),
        ("Remove VLLM_USE_V1", "VLLM_USE_V1"),
        ("Remove VLLM_USE_V1", "use_v1"),
        ("Add --kv-offload", "--kv-offload"),
        ("vllm/v1/core/sched.py", "core/sched.py"),
        ("修复调度器的死锁", "调度"),
        ("修复调度器的死锁", "死锁 修复"),
        ("修复Scheduler死锁", "scheduler"),
        ("メモリを解放する", "メモリ"),
        ("메모리 누수", "누수"),
        ("Café", "cafe"),
        ("don't", "don't"),
        ("C++ kernels", "C++"),
        ("a AND b OR c NOT d NEAR e", "AND OR NOT NEAR"),
    ],
)
def test_a_text_is_found_by_its_words(text: str, query: str, store: Store) -> None:
    """Words, beginnings of words, parts of names and characters without spaces find the text, in any case and order."""
    store.save_commit(Repository(owner="o", name="n"), commit(text), ())
    assert store.search_index.search(query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Fix double free", "triple"),
        ("Fix double free", "double +triple"),
        ("Fix double free", '"free double"'),
        ("Fix double free", '"double fre"'),
        ("Fix double free", "fr"),
        ("Fix double free", "ouble"),
        ("调整死循环的锁", "死锁"),
        ("KVConnector", "kvconnectorbase"),
        ("title and text", "text:title"),
        ("title and text", '" OR 1=1 --'),
        ("title and text", "* ( ) NEAR ^"),
    ],
)
def test_a_text_is_not_found_by_what_it_does_not_hold(text: str, query: str, store: Store) -> None:
    """A word is found from its beginning alone, what must be there is, and characters without spaces stand together."""
    store.save_commit(Repository(owner="o", name="n"), commit(text), ())
    assert not store.search_index.search(query)


@pytest.mark.parametrize("query", ["", " ", "-", "*", '"', '""', "( )", "🚀", "\0", "。"])
def test_a_query_without_words_asks_for_nothing(query: str) -> None:
    """Signs alone are no query."""
    assert parse_text_query(query).terms == ()


@given(
    st.text(
        st.one_of(st.sampled_from("\"*^:()-+{}'\0ANDORNEAR _中a1"), st.characters(exclude_categories=["Cs"])),
        max_size=30,
    )
)
def test_no_query_is_an_error(query: str) -> None:
    """Whatever somebody types, the index can be asked for it."""
    assert found("anything", query) in (True, False)


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,12}", fullmatch=True)
CHINESE = st.text("修复调度器死锁内存泄漏", min_size=1, max_size=6)


@given(st.lists(st.one_of(NAMES, CHINESE), min_size=1, max_size=6), st.data())
def test_any_of_its_words_finds_a_text(words: list[str], data: st.DataObject) -> None:
    """A text of English and Chinese words is found by each of them, also by its beginning."""
    word = data.draw(st.sampled_from(words))
    length = data.draw(st.integers(min(3, len(word)), len(word)))
    assert found(" ".join(words), word[:length])
