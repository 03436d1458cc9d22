"""Commands about commits, and the menu that explains and corrects their tiers."""

import json

from analysis.locale import catalogue
from analysis.models import Commit, Repository
from analysis.writing.labels import IMPORTANCE
from bot.models.deliveries import Outcome
from bot.models.reference import Reference
from bot.models.subjects import commit_value, parse_commit_value
from bot.services.channels import ChannelView
from bot.services.downstream import DownstreamChecks
from bot.services.lookup import Located, SeveralCommits
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.posting import PostCommand
from bot.slack.delivery.drafts import line
from bot.slack.messages.blocks import Message
from bot.slack.messages.commit import commit_messages
from bot.slack.messages.lists import which_message
from bot.slack.messages.rank import rank_message
from bot.slack.parsing.command_types import Lookup
from bot.slack.parsing.requests import ButtonRequest
from bot.store import GivenVerdict, Store, Verdicts

_LONGEST_QUESTION = 1_000  # characters that a button carries


class CommitCommands:
    """Shows commits."""

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
