"""The net change of a window of stored commits, such as a day or what lies between two versions."""

from collections.abc import Mapping, Sequence

from analysis.impact.netting import Place, added_facts, net_facts
from analysis.models import Entry, Fact, Proof
from bot.services.commit_sources import CommitSource
from bot.store import Store, StoredCommit


def net_changes(
    store: Store, source: CommitSource, stored: Sequence[StoredCommit], entries: Sequence[Entry]
) -> dict[str, tuple[Fact, ...]]:
    """Return SHA -> what a window's commits change in sum, where that differs from their own facts.

    It is found in the patches, and the files, of those that touch the same files.
    """
    ids = {each.commit.sha: each.id for each in stored}
    by_files = {each.commit.sha for each in stored if each.proof is Proof.FILES}

    def additions(wanted: Mapping[str, frozenset[Place]]) -> dict[str, tuple[Fact, ...]]:
        whole = [each.commit for each in store.commits([ids[sha] for sha in wanted], patches=True)]
        trees = {each.sha: source.trees(each) for each in whole if each.sha in by_files}
        return {each.sha: added_facts(each, wanted[each.sha], trees.get(each.sha)) for each in whole}

    newest_first = sorted(entries, key=lambda entry: entry.commit.committed_at, reverse=True)
    return net_facts(newest_first[::-1], additions)
