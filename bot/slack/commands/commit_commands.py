"""Commands about commits: one, those that a message names, and search; and the menu that explains and corrects their tiers."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from analysis.errors import Misuse
from analysis.locale import catalogue
from analysis.models import FoundCommit, Language
from analysis.models.release_scores import GivenVerdict
from analysis.questions.intent import references_in
from analysis.text import one_line, shorten
from analysis.writing.labels import IMPORTANCE, release_label
from bot.models.reference import Reference, parse_reference
from bot.models.subjects import commit_value, parse_commit_value
from bot.services.commit_sources import CommitSources
from bot.services.downstream import DownstreamChecks
from bot.services.lookup import Located
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.posting import PostCommand
from bot.slack.messages.blocks import Message, bullets, context, escaped, linked, ours, pack, prose, rich, rich_text
from bot.slack.messages.commit import commit_messages, rank_message
from bot.slack.parsing.command_types import Lookup, Search
from bot.slack.parsing.requests import ButtonRequest, ShortcutRequest
from bot.store import Store

_MOST = 5  # commits that are shown
_MOST_FOUND = 10  # search results that are shown
_HEADING = 200  # characters of a heading repeated in a continuation message


class CommitCommands:
    """Shows commits, finds stored ones, and explains and corrects their tiers."""

    def __init__(self, store: Store, sources: CommitSources, checks: DownstreamChecks, post: PostCommand) -> None:
        self._store = store
        self._sources = sources
        self._checks = checks
        self._post = post

    def show(self, conversation: Conversation, command: Lookup) -> None:
        """Show a commit."""
        self._show(conversation, conversation.view.reader.commit(command.reference, command.repository))

    def _show(self, conversation: Conversation, located: Located) -> None:
        """Show a commit that was found."""
        view = conversation.view
        entry = view.reader.shown_entry(located, view.language)
        value = commit_value(located.repository, entry.commit, view.language)
        shareable, note = self._post.offer(conversation, parse_commit_value(value))
        messages = commit_messages(
            located.repository,
            entry,
            view.language,
            view.tz,
            public=not conversation.private,
            shareable=shareable,
            note=note,
            check=self._checks.check(view.reader, conversation.request.channel, located.repository, [entry]),
        )
        conversation.show(messages, about=value)

    def explain(self, conversation: Conversation, shortcut: ShortcutRequest) -> None:
        """Show each commit that the message names, once however it is named; tell which are unknown, or that none is named."""
        view, say = conversation.view, conversation.say
        shown: list[Located] = []
        problems: list[str] = []
        names = references_in(shortcut.text)
        if not names:
            problems = [say("This message names no commit: no SHA, no #number, no link to a commit or pull request")]
        for name in names:
            if len(shown) == _MOST:
                problems.append(say("Only the first {most} commits are shown", most=_MOST))
                break
            try:
                located = view.reader.commit(parse_reference(name), None)
            except Misuse as exc:
                problems.append(f"⚠️ {escaped(exc.translated(view.language))}")
            else:
                if located not in shown:
                    shown.append(located)
                    self._show(conversation, located)
        if problems:
            conversation.tell("\n".join(problems))

    def search(self, conversation: Conversation, command: Search) -> None:
        """Show the stored commits that match best."""
        view = conversation.view
        if command.repository:
            view.reader.allow(command.repository)
        among = [command.repository] if command.repository else view.reader.known
        # An empty `among` means all repositories to the store; here it means that none is visible.
        hits = self._store.search_index.search(command.words, among, _MOST_FOUND + 1) if among else []
        found = self._sources.with_releases(hits[:_MOST_FOUND])
        more = len(hits) > _MOST_FOUND
        conversation.show(search_messages(command.words, found, more=more, language=view.language, tz=view.tz))

    def explain_tier(self, conversation: Conversation, button: ButtonRequest) -> None:
        """Show a person the signals behind a commit's rank, with their points."""
        located, language = self._pressed(conversation, button)
        entry = conversation.view.reader.entry(located, language)
        conversation.show([rank_message(entry, conversation.view.language)])

    def correct_tier(self, conversation: Conversation, button: ButtonRequest) -> None:
        """Store a person's verdict on a commit's tier, which moves it in this channel at once."""
        say, reader = conversation.say, conversation.view.reader
        located, language = self._pressed(conversation, button)
        entry = reader.entry(located, language)
        given = GivenVerdict(entry.commit.sha, "too_high" if button.action == "too_high" else "too_low")
        judged = entry.ranked.importance
        self._store.verdicts.save(located.repository, given, button.user, button.channel, judged, conversation.now)
        tier = reader.entry(located, language).ranked.importance
        if tier is judged:
            text = say(
                "Thanks, noted. Its rank stays {tier}: what its diff proves allows no other", tier=say(IMPORTANCE[tier])
            )
        else:
            text = say("Thanks! Its rank in this channel is now: {tier}", tier=say(IMPORTANCE[tier]))
        conversation.tell(text)

    def _pressed(self, conversation: Conversation, button: ButtonRequest) -> tuple[Located, Language]:
        """Return the commit of a button, and the language of its message."""
        ref = parse_commit_value(button.value)
        return conversation.view.reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository), ref.language


def search_messages(
    words: str, found: Sequence[FoundCommit], *, more: bool, language: Language, tz: ZoneInfo
) -> list[Message]:
    """Return what a search found, best first; `more` says that there was more."""
    say = catalogue(language)
    shown = one_line(words)
    heading = say("No stored commit matches “{words}”", words=shown)
    if found:
        heading = say("🔎 Commits matching “{words}”", words=shown)
    many = len({each.repository for each in found}) > 1
    items = [
        ours(f"{commit.committed_at.astimezone(tz):%Y-%m-%d}  ")
        + linked(commit.title or commit.short_sha, commit.url)
        + ours(f"  {commit.short_sha}", "code")
        + (ours("  ") + prose(repository) if many else [])
        + (ours("  📦 ") + prose(label) if (label := release_label(released, say, whole=False)) else [])
        for repository, commit, released in found
    ]
    left = [context(say("Only the first {most} commits are shown", most=len(found)))] if more else []
    blocks = [rich_text(prose(heading, "bold")), rich(bullets(items)), *left]
    return pack(heading, [blocks], say("Continued: {what}", what=shorten(heading, _HEADING)))
