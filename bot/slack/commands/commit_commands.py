"""Commands about commits: one, those that a message names, and search; and the menu that explains and corrects their tiers."""

import json

from analysis.errors import Misuse
from analysis.models import Commit, Language, Repository
from analysis.questions.intent import references_in
from analysis.writing.labels import IMPORTANCE
from bot.models.reference import Reference, parse_reference
from bot.models.subjects import commit_value, parse_commit_value, parse_page_value
from bot.services.downstream import DownstreamChecks
from bot.services.lookup import Located, SeveralCommits
from bot.services.reader import ChannelView
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.posting import PostCommand
from bot.slack.messages.blocks import Message, escaped
from bot.slack.messages.commit import commit_messages, rank_message
from bot.slack.messages.lists import PAGE_SIZE, search_messages, which_message
from bot.slack.parsing.command_types import Lookup, Search
from bot.slack.parsing.requests import ButtonRequest, ShortcutRequest
from bot.store import GivenVerdict, Store

_LONGEST_QUESTION = 1_000  # characters that a button carries
_MOST = 5  # commits that are shown
_MOST_FOUND = 1_000  # search results available by paging


class CommitCommands:
    """Shows commits, finds stored ones, and explains and corrects their tiers."""

    def __init__(self, store: Store, checks: DownstreamChecks, post: PostCommand) -> None:
        self._store = store
        self._checks = checks
        self._post = post

    def show(self, conversation: Conversation, command: Lookup) -> None:
        """Show a commit, or ask which of several is meant."""
        try:
            located = conversation.view.reader.commit(command.reference, command.repository)
        except SeveralCommits as exc:
            conversation.show(self.which(conversation.view, exc, ""))
        else:
            self._show(conversation, located)

    def _show(self, conversation: Conversation, located: Located) -> None:
        """Show a commit that was found."""
        view = conversation.view
        entry = view.reader.entry(located, view.language)
        value = commit_value(located.repository, entry.commit, view.language)
        shareable, note = self._post.offer(conversation, parse_commit_value(value))
        messages = commit_messages(
            located.repository,
            entry,
            view.language,
            view.tz,
            public=not conversation.reply.private,
            shareable=shareable,
            note=note,
            check=self._checks.check(view.reader, conversation.request.channel, located.repository, [entry]),
        )
        conversation.show(messages, about=value)

    def which(self, view: ChannelView, several: SeveralCommits, question: str) -> list[Message]:
        """Return messages that ask which of several commits is meant; the buttons carry the question."""
        stored = self._store.commits([each.commit_id for each in several.candidates])
        found = [(each.repository, one.commit) for each, one in zip(several.candidates, stored, strict=True)]

        def value(repository: Repository, commit: Commit) -> str:
            what = commit_value(repository, commit, view.language)
            return json.dumps({"what": what, "question": question[:_LONGEST_QUESTION]})

        return which_message(found, value, view.language)

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
            except SeveralCommits as exc:
                conversation.show(self.which(view, exc, ""))
            except Misuse as exc:
                problems.append(f"⚠️ {escaped(exc.translated(view.language))}")
            else:
                if located not in shown:
                    shown.append(located)
                    self._show(conversation, located)
        if problems:
            conversation.tell("\n".join(problems))

    def search(self, conversation: Conversation, command: Search) -> None:
        """Show the first page of results."""
        conversation.show(self._page(conversation.view, command, 0))

    def turn_page(self, conversation: Conversation, button: ButtonRequest) -> None:
        """Replace a page of results with the one that a button names."""
        page = parse_page_value(button.value)
        command = conversation.understand(page.words)
        if isinstance(command, Search):
            conversation.show(self._page(conversation.view, command, page.offset), replace=True)

    def _page(self, view: ChannelView, command: Search, offset: int) -> list[Message]:
        """Return one page of results; its paging buttons carry the equivalent command, `again`."""
        if command.repository:
            view.reader.allow(command.repository)
        among = [command.repository] if command.repository else view.reader.known
        # An empty `among` means all repositories to the store; here it means that none is visible.
        hits = self._store.search_index.search(command.words, among, offset + PAGE_SIZE + 1)[offset:] if among else []
        again = f"{command.repository} search {command.words}" if command.repository else f"search {command.words}"
        return search_messages(
            command.words,
            [(each.repository, each.commit) for each in hits[:PAGE_SIZE]],
            offset // PAGE_SIZE,
            more=len(hits) > PAGE_SIZE and offset < _MOST_FOUND,
            language=view.language,
            tz=view.tz,
            again=again,
        )

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
