"""Messages that show a commit with its analysis, in a digest's thread or as a reply, and that explain its rank."""

import re
from collections.abc import Iterable, Sequence
from zoneinfo import ZoneInfo

from analysis.citations import sibling_url
from analysis.facts.removed_tests import tests_added
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import join_items
from analysis.models import SHORT_SHA, Analysis, Commit, Entry, Language, Repository
from analysis.paths import Kind, kind
from analysis.report.breaking import Part, breaks_of, changes_of
from analysis.text import shorten
from analysis.writing.labels import BADGE, CHANGE_TYPES, IMPORTANCE, INSIGHT, SEVERITY, breakage_label, release_label
from analysis.writing.purpose import purpose
from analysis.writing.reasons import reason_text
from analysis.writing.titles import number_of
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.models.subjects import commit_value
from bot.slack.messages.blocks import (
    Action,
    Block,
    Message,
    Piece,
    bullets,
    button,
    context,
    fallback,
    linked,
    listed,
    ours,
    pack,
    paragraph,
    post_button,
    prose,
    rich,
    rich_text,
    section,
    side_by_side,
    with_menu,
)
from bot.slack.messages.breaks import life_buttons
from bot.slack.messages.impacts import impact_blocks, raised_entry

_TOUCHES = 5  # places shown that touch watched terms
_NAMES = 10  # names shown per kind of breaking change
_PLACE = 120  # characters of a path with line number
_PARTS = 2  # of a path are shown, its end; the address of a linked place has the others
_FILES = 2  # names of a commit's files, the most changed first
_TESTS = 1  # names of its tests
_LINE = re.compile(r":\d+$")
_VERDICTS = {Action.TOO_LOW: mark("⬆️ Ranked too low"), Action.TOO_HIGH: mark("⬇️ Ranked too high")}
_ALERTS = {
    Action.TELL_RELEASED: mark("🔔 Tell me when it is released"),
    Action.TELL_REVERTED: mark("🔔 Tell me when it is reverted"),
}
_MAX_SIGNALS = 12  # the strongest; further ones hardly move a score


def commit_messages(
    repository: Repository,
    entry: Entry,
    language: Language,
    tz: ZoneInfo,
    *,
    public: bool,
    shareable: bool = False,
    note: str = "",
    check: DownstreamCheck = UNASKED,
) -> list[Message]:
    """Return a commit as a reply, with a post button if `shareable`; if `public`, all but the first go into its thread.

    `note` is an opening line of our own mrkdwn; `check` tells what breaks the channel's code.
    """
    post = [post_button(commit_value(repository, entry.commit, language), language)] if shareable else []
    above = [*([section(note)] if note else []), context(str(repository))]
    when = f"{entry.commit.committed_at.astimezone(tz):%Y-%m-%d %H:%M}"
    messages = _messages(repository, entry, language, check, above, post, when=when)
    return [message._replace(thread=public and place > 0) for place, message in enumerate(messages)]


def thread_messages(
    repository: Repository, entry: Entry, language: Language, reason: str, check: DownstreamCheck = UNASKED
) -> list[Message]:
    """Return a commit as messages for its digest's thread, which is of a day and says nothing of times.

    `reason` is why it could not be read, if it could not.
    """
    messages = _messages(repository, entry, language, check, reason=reason)
    return [message._replace(thread=True) for message in messages]


def _messages(
    repository: Repository,
    entry: Entry,
    language: Language,
    check: DownstreamCheck,
    above: Sequence[Block] = (),
    buttons: Sequence[Block] = (),
    *,
    when: str = "",
    reason: str = "",
) -> list[Message]:
    """Return a commit packed as one group, so that it stays one message if it fits; in a thread without `when`."""
    shown, say, commit = raised_entry(entry, check), catalogue(language), entry.commit
    if not when:  # what was compared and what could not be is said once, by the digest
        check = check._replace(compared=(), unchecked=(), failed=())
    value = commit_value(repository, commit, language)
    if not when and check.of(commit.sha):
        buttons = [*buttons, *life_buttons(value, say)]
    blocks = [
        *above,
        *_opening(shown, language, when),
        *impact_blocks(commit, check, language),
        *_told(shown, say, reason),
        _buttons(
            value, say, buttons, is_judged=not entry.watched and shown == entry, is_released=bool(entry.released.tag)
        ),
    ]
    title = f"{BADGE[shown.ranked.importance]} {commit.title or commit.short_sha} ({commit.short_sha})"
    packed = pack(title, [blocks], say("Continued: {what}", what=commit.short_sha))
    return [message._replace(about=commit.sha) for message in packed]


def _told(entry: Entry, say: Catalogue, reason: str) -> list[Block]:
    """Return what is told of a commit, or why it could not be read, and the related commits."""
    if entry.analysis is None:
        why = say("could not be read: {reason}", reason=reason or say("unknown"))
        return [rich_text(prose(f"⚠️ {why}")), *_closing(entry, say)]
    return [*_changes(entry, say), *_analysis(entry, entry.analysis, say), *_closing(entry, say)]


def _buttons(
    value: str, say: Catalogue, more: Sequence[Block] = (), *, is_judged: bool, is_released: bool = False
) -> Block:
    """Return the buttons, with the five options that a menu may have at most.

    No verdicts if this channel's watched terms or code raised the tier: a verdict is on the commit's own. What may come next is
    told: a release or, once there is one, a revert.
    """
    alert = Action.TELL_REVERTED if is_released else Action.TELL_RELEASED
    menu = [(say("🧭 Why this rank"), Action.WHY, value), (say("❓ Why this message"), Action.WHY_HERE, value)]
    menu += [(say(label), action, value) for action, label in _VERDICTS.items() if is_judged]
    menu.append((say(_ALERTS[alert]), alert, value))
    return with_menu([button(say("💬 Ask"), Action.ASK_COMMIT, value), *more], menu)


def _opening(entry: Entry, language: Language, when: str = "") -> list[Block]:
    """Return the title and, in small print, change types, author, time, size, SHA and, without a model, places and tests."""
    commit, ranked, say = entry.commit, entry.ranked, catalogue(language)
    about = [
        " / ".join(say(CHANGE_TYPES[each]) for each in ranked.change_types),
        breakage_label(entry, say),
        commit.author,
        when,
    ]
    if commit.read:
        about.append(f"+{commit.additions:,} −{commit.deletions:,}")
    about.append(commit.short_sha)
    if entry.analysis and entry.analysis.by == "rules":
        about += _places_and_tests(entry, say)
    title = ours(f"{BADGE[ranked.importance]} ") + linked(commit.title or commit.short_sha, commit.url, "bold")
    return [
        rich_text(title + standing(entry, language)),
        context(" · ".join(each for each in about if each.strip())),
    ]


def _changes(entry: Entry, say: Catalogue) -> list[Block]:
    """Return what the commit's facts prove, each kind with its places and, where no model said so, what follows."""
    by_rules = entry.analysis is not None and entry.analysis.by == "rules"
    rows = []
    for each in changes_of(entry) if by_rules else breaks_of(entry):
        follows = each.consequence(say.language) if by_rules else ""
        rows.append(broken(each.parts(say.language, _NAMES)) + (ours(" – ") + prose(follows) if follows else []))
    return [rich(bullets(rows) if len(rows) > 1 else paragraph(rows[0]))] if rows else []


def broken(parts: Iterable[Part]) -> list[Piece]:
    """Return a breaking change as rich text with linked places, by the ends of their paths; what moved has its new one in full."""
    pieces: list[Piece] = []
    for part in parts:
        pieces += ours(part.gap)
        brief = _LINE.search(part.text) and "→" not in part.gap
        place = short_place(part.text) if brief else shorten(part.text, _PLACE)
        pieces += linked(f"`{place}`", part.url) if part.url else prose(part.text)
    return pieces


def short_place(label: str) -> str:
    """Return the end of a path, with the line that follows it."""
    return shorten("/".join(label.split("/")[-_PARTS:]), _PLACE)


def standing(entry: Entry, language: Language) -> list[Piece]:
    """Return a commit's state today and in this channel: reverted, released, not on the branch, watched."""
    found, say = [], catalogue(language)
    if entry.links.reverted_by:
        found += ours("  ↩️ " + say("reverted by {sha}", sha=entry.links.reverted_by[:SHORT_SHA]))
    if label := release_label(entry.released, say, whole=False):
        found += ours("  📦 ") + prose(label)
    if entry.commit.not_on:
        found += ours("  ") + prose(say("⚠️ not on {branch}", branch=entry.commit.not_on), "bold")
    return found + _watched(entry, language)


def _watched(entry: Entry, language: Language) -> list[Piece]:
    """Return the places that touch watched terms, on a line of their own."""
    say, shown = catalogue(language), entry.watched[:_TOUCHES]
    pieces = ours("\n" + say("👁 Touches watched terms") + say(": ")) if shown else []
    for number, each in enumerate(shown):
        pieces += ours(" · " if number else "") + prose(each.term, "code") + ours(" ") + linked(each.place, each.url)
    rest = len(entry.watched) - len(shown)
    return pieces + ours(" · " + say("and {count} more", count=rest) if rest else "")


def _analysis(entry: Entry, analysis: Analysis, say: Catalogue) -> list[Block]:
    """Return a model's analysis below its headline, without repetitions; without a model the author's words."""
    if analysis.by == "rules":
        why = purpose(entry.commit)
        return [rich_text(prose(say("The author writes: {text}", text=why)))] if why else []
    mitigations = {each.mitigation for each in analysis.risks}
    insight = {
        say.context("insight", INSIGHT[name]): found for name, found in analysis.insight.model_dump().items() if found
    }
    risks = [
        ours(f"[{say(SEVERITY[each.severity])}] ", "bold")
        + prose(each.risk + (f" → {each.mitigation}" if each.mitigation else ""))
        for each in analysis.risks
    ]
    lists = [
        (say("🎯 Scope"), [prose(row) for row in analysis.scope]),
        (say("🔍 Insight"), [ours(label + say(": "), "bold") + prose(found) for label, found in insight.items()]),
        (say("⚠️ Risks"), risks),
        (say("💡 Advice"), [prose(row) for row in analysis.advice if row not in mitigations]),
    ]
    headline = prose(analysis.heading, "bold") + ours("\n") if analysis.heading else []
    return [
        rich_text(headline + prose(analysis.summary)),
        *(listed(ours(label, "bold"), rows) for label, rows in lists if any(rows)),
    ]


def _places_and_tests(entry: Entry, say: Catalogue) -> list[str]:
    """Return the most changed files, unless the facts name places, and the tests."""
    commit = entry.commit
    tests, kinds = tests_added(commit), {kind(file.path) for file in commit.files}
    sources = sorted((file for file in commit.files if kind(file.path) is not Kind.TEST), key=lambda file: -file.size)
    about = []
    if sources and not any(fact.path for fact in entry.facts):
        about.append(f"📁 {_few([file.path for file in sources], _FILES, say)}")
    if tests:
        about.append(f"🧪 {_few(tests, _TESTS, say)}")
    elif Kind.SOURCE in kinds and Kind.TEST not in kinds:
        about.append(say("🧪 No tests changed"))
    return about


def _few(paths: Sequence[str], limit: int, say: Catalogue) -> str:
    """Return the first paths by their ends, and the number of the others."""
    left = len(paths) - limit
    more = f" {say('and {count} more', count=left)}" if left > 0 else ""
    return join_items(map(short_place, paths[:limit]), say) + more


def _closing(entry: Entry, say: Catalogue) -> list[Block]:
    """Return the links to related commits, and to the pull request unless the title names it."""
    commit, links = entry.commit, entry.links
    rows = []
    if commit.pr and f"#{commit.pr}" not in commit.title:
        rows.append(linked(f"PR #{commit.pr}", sibling_url(commit, f"/pull/{commit.pr}")))
    rows += _related(say("reverts {sha}"), commit, links.all_reverted)
    rows += _related(say("reverted by {sha}"), commit, filter(None, [links.reverted_by]))
    if links.series:
        row = ours(say("part {part} of a series of {of}", part=links.series.part, of=links.series.of or "N"))
        others = [sha for sha in links.series.commits if sha != commit.sha]
        for place, sha in enumerate(others):
            row += ours(say.context("between the items of a list", ", ") if place else " (") + to_commit(commit, sha)
        rows.append(row + ours(")") if others else row)
    rows += _related(say("fixes {sha}"), commit, links.fixes)
    rows += _related(say("fixed by {sha}"), commit, links.fixed_by)
    label = ours(say("🔗 Related commits") + say(": ")) if rows else []
    return [rich_text([*label, *side_by_side(rows)])]


def _related(phrase: str, commit: Commit, shas: Iterable[str]) -> list[list[Piece]]:
    """Return the phrase with a link in the place of its SHA, for each of some commits."""
    before, _, after = phrase.partition("{sha}")
    return [ours(before) + to_commit(commit, sha) + ours(after) for sha in shas]


def to_number(commit: Commit) -> list[Piece]:
    """Return a link to a commit, called by its pull request's number."""
    return linked(number_of(commit), commit.url)


def to_commit(commit: Commit, sha: str) -> list[Piece]:
    """Return a link to another commit of the same repository as `commit`."""
    return linked(f"`{sha[:SHORT_SHA]}`", sibling_url(commit, f"/commit/{sha}"))


def rank_message(entry: Entry, language: Language) -> Message:
    """Return why a commit has its tier: the signals, strongest first, and what they add to its score."""
    say, commit, ranked = catalogue(language), entry.commit, entry.ranked
    tier = f"{BADGE[ranked.importance]} {say(IMPORTANCE[ranked.importance])}"
    rows = [
        ours(f"{each.points:+.2f} ", "code") + prose(reason_text(each, language))
        for each in ranked.reasons[:_MAX_SIGNALS]
    ]
    title = ours(f"{tier} · ") + linked(commit.title or commit.short_sha, commit.url, "bold")
    score = say("Score {score}, the sum of these signals in log-odds", score=f"{ranked.score:+.2f}")
    return Message(
        fallback(f"{say('🧭 Why this rank')}{say(': ')}{commit.title or commit.short_sha}"),
        (rich_text(title), *([rich(bullets(rows))] if rows else []), context(score)),
    )
