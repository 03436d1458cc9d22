"""Messages that show a commit with its analysis: in a digest's thread, or as a reply."""

from collections.abc import Iterable
from zoneinfo import ZoneInfo

from analysis.citations import sibling_url
from analysis.locale import Catalogue, catalogue, mark
from analysis.models import SHORT_SHA, Analysis, Commit, Entry, Language, Repository
from analysis.report.breaking import Part, breaks_of
from analysis.text import shorten
from analysis.writing.by_rules import NO_ADVICE
from analysis.writing.labels import BADGE, CHANGE_TYPES, INSIGHT, SEVERITY, breakage_label
from analysis.writing.reasons import strongest_reasons
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.models.subjects import commit_value
from bot.slack.messages.blocks import (
    Action,
    Block,
    Message,
    Piece,
    actions,
    bullets,
    button,
    context,
    fallback,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    section,
    split,
)
from bot.slack.messages.impacts import impact_blocks, raised_entry

_TOUCHES = 5  # places shown that touch watched terms
_NAMES = 10  # names shown per kind of breaking change
_PLACE = 120  # characters of a path with line number
_VERDICTS = {Action.TOO_LOW: mark("⬆️ Ranked too low"), Action.TOO_HIGH: mark("⬇️ Ranked too high")}


def commit_messages(
    repository: Repository,
    entry: Entry,
    language: Language,
    tz: ZoneInfo,
    *,
    reason: str | None = None,
    public: bool,
    shareable: bool = False,
    note: str = "",
    check: DownstreamCheck = UNASKED,
) -> list[Message]:
    """Return a commit as a reply, with a post button if `shareable`; if `public`, all but the first go into its thread.

    `note` is an opening line of our own mrkdwn; `check` tells what breaks the channel's code.
    """
    say, value = catalogue(language), commit_value(repository, entry.commit, language)
    post = [button(say("📣 Post to channel"), Action.POST, value, style="primary")] if shareable else []
    above = [*([section(note)] if note else []), context(str(repository))]
    breaks = impact_blocks(entry.commit, check, language)
    messages = _messages(repository, entry, language, tz, reason, post, above, check, breaks)
    return [message._replace(thread=public and place > 0) for place, message in enumerate(messages)]


def thread_messages(
    repository: Repository,
    entry: Entry,
    language: Language,
    tz: ZoneInfo,
    reason: str | None,
    check: DownstreamCheck = UNASKED,
) -> list[Message]:
    """Return a commit as messages for its digest's thread."""
    # What was compared and what could not be is said once, by the digest.
    breaks = impact_blocks(entry.commit, check._replace(compared=(), unchecked=(), failed=()), language)
    messages = _messages(repository, entry, language, tz, reason, [], [], check, breaks)
    return [message._replace(thread=True) for message in messages]


def _messages(
    repository: Repository,
    entry: Entry,
    language: Language,
    tz: ZoneInfo,
    reason: str | None,
    buttons: list[Block],
    above: list[Block],
    check: DownstreamCheck,
    breaks: list[Block],
) -> list[Message]:
    commit, say = entry.commit, catalogue(language)
    ask = button(say("💬 Ask"), Action.ASK_COMMIT, commit_value(repository, commit, language))
    # No verdict buttons if this channel's watched terms or code raised the tier: verdicts apply to all channels.
    judged = {} if entry.watched or raised_entry(entry, check) != entry else _VERDICTS
    entry = raised_entry(entry, check)
    broken = bool(check.of(commit.sha))
    opening = [*above, *_opening(entry, breaks, language, tz, broken=broken)]
    if entry.analysis is None:
        why = say("could not be read: {reason}", reason=reason or say("unknown"))
        body = [rich(paragraph(prose(f"⚠️ {why}")))]
    else:
        body = _analysis(entry.analysis, say, broken=broken)
    # A single group, so that it stays one message if it fits.
    value = commit_value(repository, commit, language)
    verdicts = [button(say(label), each, value) for each, label in judged.items()]
    whole = [*opening, *body, *_closing(entry, say), actions(ask, *buttons, *verdicts)]
    text = fallback(f"{BADGE[entry.ranked.importance]} {commit.title or commit.short_sha} ({commit.short_sha})")
    packed = split([whole], context(say("Continued: {what}", what=commit.short_sha)))
    return [Message(text, blocks, about=commit.sha) for blocks in packed]


def _opening(entry: Entry, breaks: list[Block], language: Language, tz: ZoneInfo, *, broken: bool) -> list[Block]:
    """Return the title, change types, author, date, what breaks the channel's code, the reasons for the rank and the breaking changes.

    That a commit breaks the channel's code (`broken`) is the first of the reasons.
    """
    commit, ranked, say = entry.commit, entry.ranked, catalogue(language)
    about = [
        " / ".join(say(CHANGE_TYPES[each]) for each in ranked.change_types),
        breakage_label(ranked, say),
        commit.author,
        f"{commit.committed_at.astimezone(tz):%Y-%m-%d %H:%M}",
    ]
    if commit.read:
        about += [
            f"+{commit.additions:,} −{commit.deletions:,}",
            say.plural("{count} file", "{count} files", len(commit.paths)),
        ]
    if entry.analysis and entry.analysis.by == "rules":
        about.append(say("🔧 By rules"))
    reasons = [say("breaks your code")] if broken else []
    because = "; ".join([*reasons, *strongest_reasons(ranked, language)])
    title = ours(f"{BADGE[ranked.importance]} ") + linked(commit.title or commit.short_sha, commit.url, "bold")
    return [
        rich(paragraph(title + marks(entry, language))),
        context(" · ".join(each for each in about if each.strip())),
        *breaks,
        rich(paragraph(_labelled(say("🧭 Ranked by"), because, say) if because else [])),
        *_breaks(entry, language),
    ]


def _breaks(entry: Entry, language: Language) -> list[Block]:
    """Return the list of breaking changes by name."""
    rows = [broken(each.parts(language, _NAMES)) for each in breaks_of(entry)]
    return [rich(paragraph(ours(catalogue(language)("💥 Breaks"), "bold")), bullets(rows))] if rows else []


def broken(parts: Iterable[Part]) -> list[Piece]:
    """Return a breaking change as rich text with linked places."""
    return [
        piece
        for part in parts
        for piece in (
            *ours(part.gap),
            *(linked(f"`{shorten(part.text, _PLACE)}`", part.url) if part.url else prose(part.text)),
        )
    ]


def reverted_message(commit: Commit, by: Commit, language: Language, tz: ZoneInfo) -> Message:
    """Return the revert notice for the thread of the digest that contained the commit."""
    say = catalogue(language)
    when = say(" was reverted on {date} by ", date=f"{by.committed_at.astimezone(tz):%Y-%m-%d}")
    reverted, reverting = commit.title or commit.short_sha, by.title or by.short_sha
    pieces = [*ours("⏪ "), *linked(reverted, commit.url), *ours(when), *linked(reverting, by.url)]
    return Message(fallback(f"⏪ {reverted}{when}{reverting}"), (rich(paragraph(pieces)),))


def marks(entry: Entry, language: Language) -> list[Piece]:
    """Return the marks beside the title: breaking, reverted, not on the branch, watched."""
    found, say = [], catalogue(language)
    if any(fact.breaking for fact in entry.facts):
        found += ours(f"  {say('💥 breaking')}", "bold")
    if entry.links.reverted_by:
        found += ours("  ↩️ " + say("reverted by {sha}", sha=entry.links.reverted_by[:SHORT_SHA]))
    if entry.commit.not_on:
        found += ours("  ") + prose(say("⚠️ not on {branch}", branch=entry.commit.not_on), "bold")
    return found + _watched(entry, language)


def _watched(entry: Entry, language: Language) -> list[Piece]:
    """Return the places that touch watched terms, on a line of their own."""
    say, shown = catalogue(language), entry.watched[:_TOUCHES]
    pieces = ours("\n" + say("👁 Touches what you watch") + say(": ")) if shown else []
    for number, each in enumerate(shown):
        pieces += ours(" · " if number else "") + prose(each.term, "code") + ours(" ") + linked(each.place, each.url)
    rest = len(entry.watched) - len(shown)
    return pieces + ours(" · " + say("and {count} more", count=rest) if rest else "")


def _analysis(analysis: Analysis, say: Catalogue, *, broken: bool) -> list[Block]:
    """Return the analysis; of a commit that breaks the channel's code (`broken`) without the sentence that nothing need be done."""
    insight = {name: text for name, text in analysis.insight.model_dump().items() if text}
    lists = [
        (say("🎯 Scope"), [prose(row) for row in analysis.scope]),
        (
            say("🔍 Insight"),
            [_labelled(say.context("insight", INSIGHT[name]), text, say) for name, text in insight.items()],
        ),
        (
            say("⚠️ Risks"),
            [
                ours(f"[{say(SEVERITY[each.severity])}] ", "bold")
                + prose(each.risk + (f" → {each.mitigation}" if each.mitigation else ""))
                for each in analysis.risks
            ],
        ),
        (say("💡 Advice"), [prose(row) for row in analysis.advice if not (broken and row == say(NO_ADVICE))]),
    ]
    return [
        rich(paragraph(prose(analysis.summary))),
        *(rich(paragraph(ours(label, "bold")), bullets(rows)) for label, rows in lists if any(rows)),
    ]


def _closing(entry: Entry, say: Catalogue) -> list[Block]:
    """Return the links to the pull request and to related commits."""
    commit, links = entry.commit, entry.links
    rows = []
    if commit.pr:
        rows.append(linked(f"PR #{commit.pr}", sibling_url(commit, f"/pull/{commit.pr}")))
    rows += [_related(say("reverts {sha}"), commit, sha) for sha in links.all_reverted]
    if links.reverted_by:
        rows.append(_related(say("reverted by {sha}"), commit, links.reverted_by))
    if links.series:
        row = ours(say("part {part} of {of} of a series", part=links.series.part, of=links.series.of or "N"))
        others = [sha for sha in links.series.commits if sha != commit.sha]
        for place, sha in enumerate(others):
            row += ours(say.context("between the items of a list", ", ") if place else " (") + to_commit(commit, sha)
        rows.append(row + ours(")") if others else row)
    rows += [_related(say("fixes {sha}"), commit, sha) for sha in links.fixes]
    rows += [_related(say("fixed by {sha}"), commit, sha) for sha in links.fixed_by]
    label = ours(say("🔗 Linked") + say(": "))
    joined = [piece for place, row in enumerate(rows) for piece in (ours(" · ") if place else label) + row]
    return [rich(paragraph(joined))]


def _related(phrase: str, commit: Commit, sha: str) -> list[Piece]:
    before, _, after = phrase.partition("{sha}")
    return ours(before) + to_commit(commit, sha) + ours(after)


def to_commit(commit: Commit, sha: str) -> list[Piece]:
    """Return a link to another commit of the same repository as `commit`."""
    return linked(f"`{sha[:SHORT_SHA]}`", sibling_url(commit, f"/commit/{sha}"))


def _labelled(label: str, text: str, say: Catalogue) -> list[Piece]:
    return ours(label + say(": "), "bold") + prose(text)
