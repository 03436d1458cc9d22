"""Handling of a stored request: a command, a button click, a message or a submitted form."""

import json
from contextlib import suppress
from datetime import timedelta
from functools import partial

import structlog

from analysis.errors import DigestError, RateLimited
from analysis.locale import catalogue, mark
from bot.services.deliveries import Outcome
from bot.slack.bot import Bot
from bot.slack.commands import dispatch, questions, subscribe
from bot.slack.commands.home import home_view
from bot.slack.commands.status import subscription_messages
from bot.slack.delivery import announcements
from bot.slack.delivery.reply import Reply
from bot.slack.delivery.steps import SOON, line, until
from bot.slack.messages.blocks import context, escaped
from bot.slack.parsing.commands import plain
from bot.slack.parsing.requests import Request
from bot.slack.parsing.subscription_parser import SubscriptionOptions
from bot.slack.web import Refused, SlackFailure, Unanswered

_REQUEST_INTERVAL = timedelta(seconds=3)  # sustained rate: one request per person
_BURST = timedelta(minutes=1)  # burst: this much backlog of requests is allowed
_ROUNDS = 6  # attempts before a request is given up
log = structlog.get_logger(__name__)


def respond(bot: Bot, key: str, round_: int) -> Outcome:
    """Answer a request; the outcome's pause asks for a retry after an outside failure. A retry repeats no message."""
    body = bot.mail.request(key)
    if not body:
        return Outcome()
    request, everywhere = Request.model_validate(body), bot
    bot = bot.within(request.channel)
    if round_ == 0 and _too_fast(bot, request):
        Reply(bot, request).slow_down(mark("Slower, please: about 20 requests a minute a person"))
        return Outcome()
    with structlog.contextvars.bound_contextvars(run=request.run):
        log.info(
            "asked",
            kind=request.kind,
            channel=request.channel,
            action=request.action if request.kind == "button" else "",
        )
        outcome = _handle(bot, request, Reply(bot, request), last=round_ >= _ROUNDS)
        if request.kind == "terms" and request.at_home:
            with suppress(SlackFailure):
                _show_home(everywhere, request.user)
        return outcome


def _too_fast(bot: Bot, request: Request) -> bool:
    """Return whether a person exceeds the request rate limit. An interrupted request, which is tried again, counts once."""
    if request.kind == "message" and not request.mentioned and not request.direct:
        return False
    limit = f"requests {request.user}"
    return bot.mail.reserve_slot(limit, bot.now(), _REQUEST_INTERVAL, most=_BURST, owner=request.run) > _BURST


def _handle(bot: Bot, request: Request, reply: Reply, *, last: bool) -> Outcome:
    """Handle a request and report any error to the person in a line; temporary failures are retried unless this is the `last` attempt."""
    report = partial(_report_error, bot, request, reply)
    try:
        outcome = _dispatch(bot, request, reply)
    except Unanswered as exc:
        log.warning("slack failed", why=str(exc))
        outcome = report(mark("⚠️ {reason}"), reason=exc.translated(bot.language)) if last else Outcome(SOON)
    except RateLimited as exc:
        pause = None if last else until(bot, exc.resets_at)
        if pause and exc.resets_at:
            outcome = report(
                mark("⏳ GitHub's request limit is used up; I go on at {time}"),
                pause,
                time=f"{exc.resets_at.astimezone(bot.tz):%H:%M}",
            )
        else:
            outcome = report(mark("⚠️ {reason}"), pause, reason=exc.translated(bot.language))
    except DigestError as exc:
        if isinstance(exc, SlackFailure):
            log.warning("slack refused", why=str(exc))
        outcome = report(mark("⚠️ {reason}"), reason=exc.translated(bot.language))
    except Exception:
        log.exception("this is a bug in vllm-digest")
        outcome = report(
            mark("⚠️ Something went wrong here; please tell your operator the number `{run}`"), run=request.run
        )
    return outcome._replace(pause=None) if last else outcome


def _dispatch(bot: Bot, request: Request, reply: Reply) -> Outcome:
    outcome: Outcome | None = None
    match request.kind:
        case "command":
            wish = bot.understood(plain(request.text))
            outcome = dispatch.carry_out(bot, request, reply, wish)
        case "button" if request.action.startswith("which_"):
            outcome = questions.chosen(bot, request, reply)
        case "button":
            outcome = dispatch.press(bot, request, reply)
        case "message":
            outcome = questions.consider(bot, request, reply)
        case "terms":
            _subscribe_as_filled(bot, request, reply)
        case "home":
            bot.web.publish_home(request.user, home_view(bot, request.user))
        case "form":
            questions.ask_in_form(bot, request, reply)
    return (outcome or Outcome())._replace(lines=announcements.to_be_told(bot, request))


def _subscribe_as_filled(bot: Bot, request: Request, reply: Reply) -> None:
    """Apply a submitted subscription modal; reply in the channel, visible to the person only."""
    filled = json.loads(request.text)
    kept = subscribe.subscribe(bot, request, SubscriptionOptions.model_validate(filled["wanted"]), filled["changes"])
    reply.show([subscription_messages(bot).subscribed(kept)])


def _report_error(
    bot: Bot, request: Request, reply: Reply, message: str, pause: float | None = None, **values: str
) -> Outcome:
    """Report an error to the person: in reply to the request, else privately; in the App Home if it came from there."""
    say = catalogue(bot.language)
    told = line(say(message, **{name: escaped(value) for name, value in values.items()}))
    try:
        if not request.channel:
            _show_home(bot, request.user, say(message, **values))
            return Outcome(pause)
        try:
            reply.show([told], stage="trouble")
        except Refused:
            reply.show_privately(told)
    except SlackFailure as exc:
        log.warning("not told", why=str(exc))
    return Outcome(pause)


def _show_home(bot: Bot, user: str, told: str = "") -> None:
    """Publish a person's current App Home with the notice `told` on top, or the notice alone if the rest fails."""
    try:
        view = home_view(bot, user, told)
    except DigestError as exc:
        log.warning("no home", why=str(exc))
        view = {"type": "home", "blocks": [context(told or exc.translated(bot.language))]}
    except Exception:
        if not told:
            raise
        log.exception("this is a bug in vllm-digest")
        view = {"type": "home", "blocks": [context(told)]}
    bot.web.publish_home(user, view)
