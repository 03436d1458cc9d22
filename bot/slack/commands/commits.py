"""Commands about commits: one, those that a message names, and search; and the menu that explains and corrects their tiers."""

import json

from analysis.errors import Misuse
from analysis.locale import catalogue
from analysis.models import Commit, Repository
from analysis.questions.intent import references_in
from analysis.writing.labels import IMPORTANCE
from bot.models.deliveries import Outcome
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
from bot.slack.messages.notices import line
from bot.slack.parsing.command_types import ExplainCommits, Lookup, Search
from bot.slack.parsing.requests import ButtonRequest
from bot.store import GivenVerdict, Store, Verdicts

_LONGEST_QUESTION = 1_000  # characters that a button carries
_MOST = 5  # commits that are shown
_MOST_FOUND = 1_000  # search results available by paging


class CommitCommands:
    """Shows commits, and finds stored ones."""

    def __init__(self, store: Store, checks: DownstreamChecks, post: PostCommand) -> None:
        self._store = store
        self._checks = checks
        self._post = post

    def show(self, conversation: Conversation, command: Lookup) -> Outcome:
        """Show a commit, or ask which of several is meant."""
        view = conversation.view
        try:
            located = view.reader.commit(command.reference, command.repository)
        except SeveralCommits as exc:
            conversation.show(self.which(view, exc, ""))
        else:
            self.show_located(conversation, located)
        return Outcome()

    def show_located(self, conversation: Conversation, located: Located) -> None:
        """Show a commit that was found."""
        view, reply = conversation.view, conversation.reply
        entry = view.reader.entry(located, view.language)
        shareable = self._post.is_offered(conversation)
        value = commit_value(located.repository, entry.commit, view.language)
        note = self._post.note(conversation, parse_commit_value(value)) if shareable else ""
        messages = commit_messages(
            located.repository,
            entry,
            view.language,
            view.tz,
            public=not reply.private,
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

    def explain(self, conversation: Conversation, command: ExplainCommits) -> Outcome:
        """Show each commit that the message names, once however it is named; tell which are unknown, or that none is named."""
        view = conversation.view
        say = catalogue(view.language)
        shown: list[Located] = []
        problems: list[str] = []
        names = references_in(command.text)
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
                    self.show_located(conversation, located)
        if problems:
            conversation.show([line("\n".join(problems))])
        return Outcome()

    def search(self, conversation: Conversation, command: Search) -> Outcome:
        """Show the first page of results."""
        conversation.show(self._page(conversation.view, command, 0))
        return Outcome()

    def turn_page(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Replace a page of results with the one that a button names."""
        page = parse_page_value(button.value)
        command = conversation.understand(page.words)
        if isinstance(command, Search):
            conversation.show(self._page(conversation.view, command, page.offset), replace=True)
        return Outcome()

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


class Ranks:
    """The menu of a commit: why it has its tier, and that this is too high or too low."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    def explain(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Show a person the signals behind a commit's rank, with their points."""
        ref, reader = parse_commit_value(button.value), conversation.view.reader
        entry = reader.entry(reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository), ref.language)
        conversation.show([rank_message(entry, conversation.view.language)])
        return Outcome()

    def store(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Store a person's verdict on a commit's tier, which moves it in this channel at once."""
        ref, reader = parse_commit_value(button.value), conversation.view.reader
        located = reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
        entry = reader.entry(located, ref.language)
        given = GivenVerdict(entry.commit.sha, "too_high" if button.action == "too_high" else "too_low")
        judged = entry.ranked.importance
        self._verdicts.save(located.repository, given, button.user, button.channel, judged, conversation.now)
        say, tier = catalogue(conversation.view.language), reader.entry(located, ref.language).ranked.importance
        if tier is judged:
            text = say(
                "Thanks, noted. Its rank stays {tier}: what its diff proves allows no other", tier=say(IMPORTANCE[tier])
            )
        else:
            text = say("Thanks! Its rank in this channel is now: {tier}", tier=say(IMPORTANCE[tier]))
        conversation.show([line(text)])
        return Outcome()
