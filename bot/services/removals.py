"""The patches of commits that remove something: a changelog or a deprecation notice in them may name the replacement."""

from collections.abc import Mapping, Sequence

from analysis.models import Entry
from bot.store import Store


def with_removal_patches(store: Store, ids: Mapping[str, int], entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries, those that remove something with their patches; `ids` maps the SHA of each to its id."""
    wanted = [ids[each.commit.sha] for each in entries if any(fact.removes and not fact.new for fact in each.facts)]
    whole = {each.commit.sha: each.commit for each in store.commits(wanted, patches=True)} if wanted else {}
    return tuple(each.model_copy(update={"commit": whole.get(each.commit.sha, each.commit)}) for each in entries)
