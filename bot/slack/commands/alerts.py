"""Alerts: what a person asks to be told once, the list of it, and the buttons that set and cancel it."""

import re
from dataclasses import dataclass

from analysis.errors import Misuse
from analysis.locale import Phrase
from bot.models.reference import Reference
from bot.models.subjects import parse_commit_value
from bot.services.lookup import CommitLookup, Located, Unmerged
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.home import Home
from bot.slack.commands.posting import Members
from bot.slack.delivery.alerts import AlertNews
from bot.slack.directory import Directory
from bot.slack.messages.alerts import alert_list, closed_message, set_message
from bot.slack.messages.blocks import Action, escaped
from bot.slack.parsing.command_types import ListAlerts, SetAlert
from bot.slack.parsing.requests import ButtonRequest
from bot.store import Alert, AlertEvent, Alerts, Store

_MOST = 50  # alerts of a person
_EVENTS: dict[str, AlertEvent] = {Action.TELL_RELEASED: "released", Action.TELL_REVERTED: "reverted"}


@dataclass(eq=False)
class AlertCommands:
    """Sets, lists and cancels alerts."""

    _alerts: Alerts
    _news: AlertNews
    _store: Store
    _commits: CommitLookup
    _members: Members
    _home: Home
    _directory: Directory

    def set(self, conversation: Conversation, command: SetAlert) -> None:
        """Set an alert, or tell at once what has come to pass."""
        found = conversation.view.reader.commit_or_pull(command.reference, command.repository)
        self._set(conversation, found, command.event, by_sha=bool(command.reference.sha))

    def set_by_button(self, conversation: Conversation, button: ButtonRequest) -> None:
        """Set the alert of a button in a commit's message."""
        ref = parse_commit_value(button.value)
        found = conversation.view.reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
        self._set(conversation, found, _EVENTS[button.action], by_sha=True)

    def show_all(self, conversation: Conversation, _: ListAlerts) -> None:
        """List the person's alerts, without repositories that are not visible here."""
        reader = conversation.view.reader
        seen = [each for each in self._alerts.of(conversation.request.user) if reader.sees(each.repository)]
        conversation.show(alert_list(seen, conversation.view.language))

    def cancel(self, conversation: Conversation, button: ButtonRequest) -> None:
        """Cancel a button's alert, if it is the person's, and confirm it where the button was: in a reply or in the App Home."""
        say, known = conversation.say, re.fullmatch(r"\d{1,18}", button.value, re.ASCII)
        alert = self._alerts.get(int(button.value)) if known else None
        text = say("This alert is over already")
        if alert and alert.user == button.user and self._alerts.end(alert.id, conversation.now):
            text = say("🔕 Cancelled: {what}", what=alert.title)
        if button.channel:
            conversation.tell(escaped(text))
        else:
            self._home.publish(conversation.view, button.user, text)

    def _set(self, conversation: Conversation, found: Located | Unmerged, event: AlertEvent, *, by_sha: bool) -> None:
        request, view, say = conversation.request, conversation.view, conversation.say
        self._members.check_organisation(request)
        if view.reader.within(self._directory.direct(request.user)).hides(found.repository):
            conversation.tell(say("🔔 A private repository's news stay in its channels: I can't send them to your DMs"))
            return
        alert = Alert(request.user, request.channel, found.repository, event, "", "", "")
        alert = self._with_subject(alert, found, by_sha=by_sha)
        told = self._news.find(alert, view)
        if isinstance(found, Unmerged) and found.pull.closed:
            told = closed_message(alert, view.language)
        if told is None and not self._alerts.keep(alert, conversation.now, _MOST):
            raise Misuse(Phrase("you have {most} alerts; cancel one first: `tell me` lists them", most=_MOST))
        conversation.show([told or set_message(alert, view.language, self._note(conversation, alert))])

    def _note(self, conversation: Conversation, alert: Alert) -> str:
        """Return why what is waited for may remain unknown; empty if there is no such reason."""
        say, known = conversation.say, [each.key for each in conversation.view.reader.known]
        if alert.event == "released" and not self._commits.knows_releases(alert.repository):
            return say("I know no release tags of this repository yet")
        if alert.event == "reverted" and alert.repository.key not in known:
            return say("No channel follows this repository: I learn of a revert when somebody asks for its day")
        return ""

    def _with_subject(self, alert: Alert, found: Located | Unmerged, *, by_sha: bool) -> Alert:
        """Return an alert with its subject: a commit, or a pull request that is not merged.

        Raise `Misuse` for the merge of a commit that was named by its SHA and is on no branch that is followed.
        """
        if isinstance(found, Unmerged):
            name, pull = f"#{found.pull.number}", found.pull
            return alert._replace(subject=name, title=f"{pull.title} ({name})", url=pull.url)
        [stored] = self._store.commits([found.commit_id])
        commit = stored.commit
        if commit.not_on and alert.event == "merged" and by_sha:
            raise Misuse(
                Phrase("{sha} is not on {branch}; name its pull request", sha=commit.short_sha, branch=commit.not_on)
            )
        title = commit.title or commit.short_sha
        return alert._replace(subject=commit.sha, title=title, url=commit.url, sha=commit.sha)
