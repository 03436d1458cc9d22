"""The status of the bot and of a channel's subscriptions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from analysis.errors import StoreUnusable
from analysis.locale import catalogue
from analysis.models import Language, Repository
from analysis.report.release_scores import score_sentence
from bot.models.clock import Clock
from bot.services.breaks import BreakLives
from bot.services.limits import MeteredModel
from bot.services.reader import ChannelView
from bot.slack.messages.blocks import Message, Piece, fallback, lines, ours, paragraph, prose, rich
from bot.slack.messages.breaks import open_lines
from bot.slack.messages.subscriptions import SubscriptionMessages, summarize
from bot.slack.web import Web
from bot.store import BreakState, Mailbox, Store, Subscription
from bot.store.executors import Executors
from bot.store.flow_tables import FlowTables

_RATED = timedelta(days=30)
_WEEK = timedelta(days=7)
_LONG = timedelta(minutes=1)  # for a request to wait


@dataclass(eq=False)
class BotStatus:
    """What the bot is doing: its processes, model and cost, what waits or was given up; and when digests come."""

    _store: Store
    _mailbox: Mailbox
    _model: MeteredModel | None
    _web: Web
    _executors: Executors
    _flows: FlowTables
    _lives: BreakLives
    _now: Clock

    def message(self, view: ChannelView, channel: str, held: Sequence[Subscription]) -> Message:
        """Return the bot's status, the next digests and delivery failures of a channel's subscriptions, and its open breaks."""
        language = view.language
        say, messages = catalogue(language), self.subscription_messages(language)
        rows = [*self.rows(language), say("Subscriptions: {count}", count=len(held))]
        for each in held:
            rows.append(f"{summarize(each.terms, language)}: {say('Next digest: {at}', at=messages.next_digest(each))}")
            rows += messages.next_weekly(each)
            if each.note:
                rows.append(f"⚠️ {each.terms.repository}: {messages.trouble(each)}")
        rows += self._score_rows(held, language)
        title = say("Status")
        open_ = self.open_breaks(view, [channel])
        shown = [
            rich(paragraph(ours(title, "bold"))),
            rich(lines(map(prose, rows))),
            *([rich(lines(open_))] if open_ else []),
        ]
        return Message(fallback(title), tuple(shown))

    def open_breaks(self, view: ChannelView, channels: Iterable[str]) -> list[list[Piece]]:
        """Return lines about what breaks the code of channels and is open, as far as it may be seen where they are shown."""
        found = [
            each
            for channel in channels
            for each in self._lives.of_channel(view.reader, channel, state=BreakState.FOUND)
        ]
        seen = {name: not view.reader.hides(Repository.parse(name)) for each in found for name in each[1:4:2]}
        shown = [each for each in found if seen[each.repository] and seen[each.downstream]]
        return open_lines(shown, self._now().astimezone(view.tz).date(), catalogue(view.language))

    def rows(self, language: Language) -> list[str]:
        """Return the status lines of the whole bot, without names of channels or repositories."""
        say = catalogue(language)
        rows = [
            *self._process_row(language),
            say("Analysis: {model}", model=self._model.name if self._model else say("rules (no model configured)")),
        ]
        if self._model:
            rows.append(say("Model cost today: ${usd}", usd=f"{self._store.spending.spent(self._now().date()):.2f}"))
            rows += self._model_failure(self._model, language)
        rated = self._store.ratings.counts(self._now() - _RATED)
        if any(rated):
            rows.append(
                say(
                    "Answers rated in the last 30 days: 👍 {helpful} · 👎 {unhelpful}",
                    helpful=rated.helpful,
                    unhelpful=rated.unhelpful,
                )
            )
        if unpublished := len(self._store.publications.failed(self._now() - _WEEK)):
            rows.append(say("⚠️ Reports not published in the last 7 days: {count}", count=unpublished))
        return rows + self._trouble(language)

    def subscription_messages(self, language: Language) -> SubscriptionMessages:
        """Return the builder of a channel's messages about subscriptions."""
        return SubscriptionMessages(language, self._now(), self._web.me["user"])

    def _process_row(self, language: Language) -> list[str]:
        """Return a line with the number of processes by command, on PostgreSQL; without their machines' names."""
        commands = Counter(each.command for each in self._executors.living())
        if not commands:
            return []
        each = (name if number == 1 else f"{number} × {name}" for name, number in sorted(commands.items()))
        return [
            catalogue(language)("Processes: {count} ({commands})", count=commands.total(), commands=", ".join(each))
        ]

    def _trouble(self, language: Language) -> list[str]:
        """Return lines about what waits for long, needs an operator, or was given up."""
        say, rows = catalogue(language), []
        if since := self._mailbox.waiting_since():
            waits = self._now() - since
            if waits > _LONG:
                minutes = int(waits.total_seconds() // 60)
                rows.append(say("⚠️ The oldest request has been waiting for {minutes} min", minutes=minutes))
        if given_up := self._given_up():
            rows.append(say("⚠️ Deliveries and answers given up in the last 7 days: {count}", count=given_up))
        if held := len(self._mailbox.held()):
            rows.append(say("⚠️ Messages not confirmed by Slack: {count}", count=held))
        return rows

    def _given_up(self) -> int:
        try:
            return sum(self._flows.failed(_WEEK).values())
        except StoreUnusable:  # the engine's tables are of another version; the rest is worth showing
            return 0

    def _score_rows(self, held: Sequence[Subscription], language: Language) -> list[str]:
        """Return for each repository that a channel subscribes to how right the ranks of its latest release were."""
        repositories = {each.terms.repository.key: each.terms.repository for each in held}
        scores = [(each, self._store.release_scores.latest(each)) for each in repositories.values()]
        return [f"{repository}: {score_sentence(score).translated(language)}" for repository, score in scores if score]

    def _model_failure(self, model: MeteredModel, language: Language) -> list[str]:
        """Return a line about the model's latest failure, if its latest call failed, in whichever process."""
        failure = self._store.model_failures.latest(model.name)
        if failure is None:
            return []
        minutes = int((self._now() - failure.at).total_seconds() // 60)
        return [
            catalogue(language)(
                "⚠️ The model {model} failed {minutes} min ago: {why}; using rules instead",
                model=model.name,
                minutes=minutes,
                why=failure.reasons[language],
            )
        ]
