"""The index of commits that an earlier program stored is completed from what is stored, in parts."""

from sqlalchemy import Engine, text

from analysis.models import Commit, FileChange, Repository
from bot.store import Store
from tests.conftest import NOON

REPOSITORY = Repository(owner="o", name="n")
PATCH = "@@ -1 +1 @@ def load():\n-    removed_name(1)\n+    added_name(1)"


def commit(number: int, patch: str | None = PATCH) -> Commit:
    return Commit(
        sha=f"{number:040x}",
        url="",
        author="Ada",
        authored_at=NOON,
        committed_at=NOON,
        message=f"Change part {number}\n\nThe reason was latency.",
        files=(FileChange(path="pkg/part.py", patch=patch),),
    )


def forget(engine: Engine) -> None:
    """Leave of the index what an earlier program had written."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE commit_search SET message = '', code = ''"))
        connection.execute(text("UPDATE commits SET words_version = 0"))


def test_what_an_earlier_program_stored_is_indexed_anew(engine: Engine) -> None:
    """Names of changed lines and words of messages find a commit after the update; without a patch its message does."""
    store = Store(engine)
    store.save_commit(REPOSITORY, commit(1), ())
    store.save_commit(REPOSITORY, commit(2, patch=None), ())
    forget(engine)
    assert store.search_index.outdated() == 2
    assert store.search_index.search("removed_name latency") == []
    assert sum(store.search_index.update()) == 2
    assert store.search_index.outdated() == 0
    assert [each.commit.sha for each in store.search_index.search("removed_name")] == [commit(1).sha]
    assert len(store.search_index.search("latency")) == 2


def test_an_update_that_was_stopped_goes_on(engine: Engine) -> None:
    """A stopped update has done its batches; another one does the rest, and no commit twice."""
    store = Store(engine)
    for number in range(150):
        store.save_commit(REPOSITORY, commit(number), ())
    forget(engine)
    update = store.search_index.update()
    done = next(update)
    del update  # stopped
    assert store.search_index.outdated() == 150 - done > 0
    assert sum(store.search_index.update()) == 150 - done
    assert len(store.search_index.search("added_name", limit=200)) == 150


def test_a_commit_that_was_stored_again_keeps_its_summary(engine: Engine) -> None:
    """A commit read anew is still found by the summaries of its analyses."""
    store = Store(engine)
    commit_id = store.save_commit(REPOSITORY, commit(1), ())
    with engine.begin() as connection:
        connection.execute(text("UPDATE commit_search SET summary = 'quicker' WHERE rowid = :id"), {"id": commit_id})
    store.save_commit(REPOSITORY, commit(1), ())
    assert len(store.search_index.search("quicker")) == 1


def test_what_the_index_leaves_out_is_known(engine: Engine) -> None:
    """Commits with words that are not indexed are told, also after an update, and messages are searched with their trailers."""
    index = (store := Store(engine)).search_index
    store.save_commit(REPOSITORY, commit(1), ())
    locked = FileChange(path="poetry.lock", additions=1, patch="@@ -0,0 +1 @@\n+x")
    partly = store.save_commit(REPOSITORY, commit(2).model_copy(update={"files": (locked,)}), ())
    signed = {"message": "Change\n\nSigned-off-by: Quokka 100%_x"}
    by = store.save_commit(REPOSITORY, commit(3).model_copy(update=signed), ())
    assert index.partly_indexed(REPOSITORY) == [partly]
    forget(engine)
    assert sum(index.update()) == 3
    assert index.partly_indexed(REPOSITORY) == [partly]
    assert index.in_messages(REPOSITORY, ["quokka"], 9) == index.in_messages(REPOSITORY, ["100%_X"], 9) == [by]
    assert index.in_messages(REPOSITORY, ["100__x"], 9) == []
