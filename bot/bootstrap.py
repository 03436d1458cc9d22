"""Composition root: builds the services and the bot from the settings."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from analysis.errors import BadSetting, Misuse, StoreUnusable
from analysis.models import Repository
from analysis.ranking import Weights, packaged_weights
from analysis.sources.github import GitHub
from bot import logs
from bot.services.analyst import Modelling
from bot.services.digest import Services
from bot.settings import Settings
from bot.store import Store, Subscriptions, Terms, open_engine
from bot.store.database import address_of, check_folder, prepare_folder

if TYPE_CHECKING:
    from bot.slack.bot import Bot
    from bot.slack.listeners import Hands
    from bot.slack.outbox.outbox import Pace

_SHARE = 4  # one in this many model calls is reserved for answers
_PREFIXES = {"SLACK_BOT_TOKEN": "xoxb-", "SLACK_APP_TOKEN": "xapp-", "SLACK_SIGNING_SECRET": ""}


@contextmanager
def services(
    settings: Settings, on_wait: Callable[[float], None] | None = None, *, now: datetime | None = None
) -> Iterator[Services]:
    """Open GitHub, the store and the model from the settings, and set up logging.

    `now` (UTC) determines the model's daily budget; without it no model is used.
    """
    logs.set_up(settings.log_level or "WARNING", settings.log_format)
    store = Store(open_engine(settings.database_url.get_secret_value()))
    source = GitHub(settings.github_api_url, settings.token, on_wait=on_wait)
    with closing(store), closing(source), _modelling(settings, (lambda: now) if now else None) as modelling:
        yield Services(source, store, modelling)


@contextmanager
def _modelling(
    settings: Settings, now: Callable[[], datetime] | None, *, for_answers: int = 0
) -> Iterator[Modelling | None]:
    if not settings.digest_model or now is None:
        yield None
        return
    from analysis.llm import ChatModel

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    at_once, usd = settings.digest_concurrency, settings.digest_daily_budget_usd
    with closing(ChatModel(settings.digest_model, base_url=settings.openai_base_url, api_key=key)) as model:
        yield Modelling(model, at_once, usd, now, for_answers=for_answers)


@contextmanager
def running_bot(
    settings: Settings,
    now: Callable[[], datetime],
    *,
    address: tuple[str, int] | None = None,
    metrics_port: int = 0,
    metrics_needed: bool = False,
    source: GitHub | None = None,
    pace: "Pace | None" = None,
) -> Iterator[None]:
    """Run the bot for the duration of the block: resume interrupted flows, then listen to Slack and the scheduler.

    Slack reaches the bot at `address` (host, port) over HTTP; without one it connects over Socket Mode. `metrics_port` is
    the port of the metrics, 0 for none; it must be free if they are `metrics_needed`. `source` and `pace` replace GitHub and
    the send rate, for the local workspace. Raise `BadSetting` for tokens that are missing or rejected, `StoreUnusable` if
    another bot uses the store, `Misuse` for an address in use.
    """
    from bot import flows, metrics, scheduler
    from bot.slack.app import sign_in
    from bot.slack.commands import subscribe
    from bot.slack.commands.questions import concerns
    from bot.slack.listeners import Hands

    logs.set_up(settings.log_level or "INFO", settings.log_format)
    bot_token = slack_secret(settings, "SLACK_BOT_TOKEN")
    with (
        _listening(settings, address) as listen,
        _locked(database := database_file(settings)),
        _bot(settings, bot_token, now, source, pace) as bot,
    ):
        sign_in(bot)  # before anything is posted: refused messages are not retried
        _subscribe(bot, settings)
        figures = metrics.Metrics(bot)
        hands = Hands(
            concerns=lambda request: concerns(bot, request),
            keep=lambda request: bot.mail.receive(request.key, request.model_dump(exclude_defaults=True), now()),
            start=lambda request: flows.start_answer(request.key),
            language=lambda channel: bot.within(channel).language,
            terms_view=lambda request: subscribe.terms_view(bot, request),
            terms_filled=lambda body: subscribe.terms_filled(bot, body),
            acknowledged=figures.acknowledged,
            refused=figures.refused,
        )
        with (
            flows.running(bot, database.with_name(f"{database.stem}-flows.db")),
            scheduler.ticking(lambda: scheduler.start_due(bot, flows.start_delivery), lambda: flows.forget_old(bot)),
            metrics.served(figures, metrics_port, needed=metrics_needed),
            listen(bot, hands),
        ):
            yield


@contextmanager
def _listening(
    settings: Settings, address: tuple[str, int] | None
) -> "Iterator[Callable[[Bot, Hands], AbstractContextManager[None]]]":
    """Check the token, or check the secret and bind the address; yield the function that starts listening to Slack."""
    if address is None:
        from bot.slack.app import socket_mode

        token = slack_secret(settings, "SLACK_APP_TOKEN")
        yield lambda bot, hands: socket_mode(bot, token, hands)
        return
    from bot.slack.http import bound, http_mode

    secret = slack_secret(settings, "SLACK_SIGNING_SECRET")
    with bound(*address) as place:
        yield lambda bot, hands: http_mode(bot, secret, hands, place, lambda: _health(bot))


def _health(bot: "Bot") -> dict[str, bool]:
    """Return whether the store and the flow engine work, for /healthz."""
    from bot import flows

    try:
        bot.mail.waiting_since()
    except StoreUnusable:
        return {"store": False, "engine": flows.alive()}
    return {"store": True, "engine": flows.alive()}


@contextmanager
def _bot(
    settings: Settings, token: str, now: Callable[[], datetime], source: GitHub | None, pace: "Pace | None"
) -> Iterator["Bot"]:
    from bot.services.access import Access
    from bot.services.reader import Reader
    from bot.slack.bot import Bot
    from bot.slack.outbox.outbox import SLACKS_PACE, Outbox
    from bot.slack.web import Web
    from bot.store import Mailbox, Subscriptions

    engine = open_engine(settings.database_url.get_secret_value())
    store, mail, web = Store(engine), Mailbox(engine), Web(token, settings.slack_api_url)
    source = source or GitHub(settings.github_api_url, settings.token)
    answers = max(1, settings.digest_concurrency // _SHARE)
    with closing(store), closing(source), _modelling(settings, now, for_answers=answers) as modelling:
        services_, subscriptions = Services(source, store, modelling), Subscriptions(engine)
        access = Access(settings.digest_private, source.is_public, now)

        def known() -> list[Repository]:
            subscribed = [each.terms.repository for each in subscriptions.all()]
            return list({each.key: each for each in (*settings.digest_repos, *subscribed)}.values())

        yield Bot(
            reading=Reader(services_, known, access, usual=settings.digest_repos),
            mail=mail,
            subscriptions=subscriptions,
            web=web,
            outbox=Outbox(mail, web, now, pace=pace or SLACKS_PACE),
            tz=settings.tz,
            time=settings.digest_time,
            language=settings.digest_language,
            command=settings.digest_command,
            now=now,
        )


def slack_secret(settings: Settings, name: str) -> str:
    """Return one of the app's three Slack secrets. Raise `BadSetting` if it is missing or has the wrong prefix."""
    value: SecretStr | None = getattr(settings, name.lower())
    if value is None:
        raise BadSetting(
            f"{name} is not set; the README says how to get one. Without Slack, try: vllm-digest digest --sample"
        )
    if not value.get_secret_value().startswith(_PREFIXES[name]):
        raise BadSetting(f"{name}: is not such a token; it begins with {_PREFIXES[name]}")
    return value.get_secret_value()


def _subscribe(bot: "Bot", settings: Settings) -> None:
    """Subscribe the channels of DIGEST_CHANNEL to DIGEST_REPOS, keeping subscriptions that people made or cancelled."""
    for channel in settings.digest_channel:
        # Repositories that people subscribed to or cancelled.
        chosen = {each.terms.repository.key for each in bot.subscriptions.of(channel) if each.user}
        chosen |= {each.terms.repository.key for each in bot.subscriptions.ended(channel)}
        for repository in settings.digest_repos:
            if repository.key in chosen or bot.reading.within(channel).hides(repository):
                continue
            terms = Terms(channel, repository, settings.digest_time, settings.tz, settings.digest_language)
            bot.subscriptions.keep(terms, bot.now())


def database_file(settings: Settings) -> Path:
    """Return the path of the database. Raise `BadSetting` if DATABASE_URL does not name a file."""
    name = address_of(settings.database_url.get_secret_value()).database
    if not name or name == ":memory:":
        raise BadSetting("DATABASE_URL: the bot needs a file to remember in, such as sqlite:///data/digest.db")
    return Path(name)


@contextmanager
def _locked(database: Path) -> Iterator[None]:
    """Lock the database against other bots; the lock is released when the process ends, even if killed."""
    import fcntl

    prepare_folder(database)
    try:
        file = database.with_name(f"{database.name}.lock").open("w")
    except OSError as exc:
        raise StoreUnusable(f"the folder of {database} cannot be written ({exc.strerror}); set DATABASE_URL") from exc
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreUnusable(f"another vllm-digest runs on {database}; end it first, or set DATABASE_URL") from None
        yield


def corrections_of(settings: Settings, repository: Repository) -> dict[str, bool]:
    """Return SHA -> whether the latest verdict on a commit's tier raises it."""
    engine = open_engine(settings.database_url.get_secret_value())
    try:
        return {sha: verdict == "too_low" for sha, verdict, _ in Subscriptions(engine).labels(repository)}
    finally:
        engine.dispose()


def weights_of(settings: Settings, repository: Repository) -> Weights:
    """Return a repository's weights: those stored by `calibrate`, or the packaged ones. Creates no store."""
    url = settings.database_url.get_secret_value()
    name = address_of(url).database
    if not name:
        return packaged_weights(repository)
    check_folder(Path(name))
    if not Path(name).exists():
        return packaged_weights(repository)
    with closing(Store(open_engine(url))) as store:
        return store.weights(repository) or packaged_weights(repository)


def chosen(name: str | None, configured: Sequence[Repository]) -> list[Repository]:
    """Return all configured repositories, or the one called `name` (full or short). Raise `Misuse` if that is ambiguous or unknown."""
    if name is None:
        return list(configured)
    if "/" in name:
        wanted = Repository.parse(name)
        return [each for each in configured if each.key == wanted.key] or [wanted]
    short = [each for each in configured if name.lower() in (each.name.lower(), f"{each.name}@{each.branch}".lower())]
    if len(short) != 1:
        known = ", ".join(map(str, configured))
        raise Misuse(
            f"{name!r} names {'several' if short else 'none'} of the configured repositories ({known}); use owner/name"
        )
    return short
