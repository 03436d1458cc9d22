"""What a person's request leads to: a command, a button, a message or a question is answered where it was asked."""

import json
from datetime import timedelta

import structlog

from analysis.errors import DigestError, RateLimited
from bot.slack import announcing, commands, questioning, subscribing, subscription_messages
from bot.slack.blocks import escaped
from bot.slack.bot import Bot, Outcome
from bot.slack.delivering import SOON, line, until
from bot.slack.grammar import plain
from bot.slack.home import home_view
from bot.slack.replying import Reply
from bot.slack.requests import Request
from bot.slack.subscription_grammar import Wanted
from bot.slack.web import SlackFailure, Unanswered
from bot.slack.words import slack_words

_A_REQUEST = timedelta(seconds=3)  # of a person, in the long run
_BURST = timedelta(minutes=1)  # of such requests may come at once
_ROUNDS = 6  # after which a request is given up
log = structlog.get_logger(__name__)


def respond(bot: Bot, key: str, round_: int) -> Outcome:
    """Answers a request; asks to be called again where something outside failed. Called again, it says nothing twice."""
    body = bot.mail.request(key)
    if not body:
        return Outcome()
    request = Request.model_validate(body)
    bot = bot.within(request.channel)
    if round_ == 0 and _too_fast(bot, request):
        Reply(bot, request).slow_down("slower")
        return Outcome()
    with structlog.contextvars.bound_contextvars(run=request.run):
        log.info(
            "asked",
            kind=request.kind,
            channel=request.channel,
            action=request.action if request.kind == "button" else "",
        )
        return _guarded(bot, request, Reply(bot, request), last=round_ >= _ROUNDS)


def _too_fast(bot: Bot, request: Request) -> bool:
    """Whether a person asks more than anybody can read."""
    if request.kind == "message" and not request.mentioned and not request.direct:
        return False
    return bot.mail.turn(f"requests {request.user}", bot.now(), _A_REQUEST, most=_BURST) > _BURST


def _guarded(bot: Bot, request: Request, reply: Reply, *, last: bool) -> Outcome:
    """Whatever goes wrong is told to the person in a line; what may work later is tried again, unless this is the `last` time."""
    say = slack_words(bot.language)
    try:
        outcome = _dispatch(bot, request, reply)
    except SlackFailure as exc:
        log.warning("slack failed", why=str(exc))
        outcome = Outcome(pause=SOON if isinstance(exc, Unanswered) else None, failure=str(exc))
    except RateLimited as exc:
        pause = None if last else until(bot, exc.resets_at)
        told = say.label("failed", reason=escaped(exc.told(bot.language)))
        if pause and exc.resets_at:
            told = say.label("resumes", time=f"{exc.resets_at.astimezone(bot.tz):%H:%M}")
        outcome = _told(reply, told, pause)
    except DigestError as exc:
        outcome = _told(reply, say.label("failed", reason=escaped(exc.told(bot.language))))
    except Exception:
        log.exception("this is a bug in vllm-digest")
        outcome = _told(reply, say.label("bug", run=request.run))
    return outcome._replace(pause=None) if last else outcome


def _dispatch(bot: Bot, request: Request, reply: Reply) -> Outcome:
    outcome: Outcome | None = None
    match request.kind:
        case "command":
            wish = bot.understood(plain(request.text))
            outcome = commands.carry_out(bot, request, reply, wish)
        case "button" if request.action.startswith("which_"):
            outcome = questioning.chosen(bot, request, reply)
        case "button":
            outcome = commands.press(bot, request, reply)
        case "message":
            outcome = questioning.consider(bot, request, reply)
        case "terms":
            _subscribe_as_filled(bot, request, reply)
        case "home":
            bot.web.publish_home(request.user, home_view(bot, request.user))
        case "form":
            questioning.ask_in_form(bot, request, reply)
    return (outcome or Outcome())._replace(lines=announcing.to_be_told(bot, request))


def _subscribe_as_filled(bot: Bot, request: Request, reply: Reply) -> None:
    """What was filled into the modal; its answer goes to the channel, where only the person sees it."""
    filled = json.loads(request.text)
    kept = subscribing.subscribe(bot, request, Wanted.model_validate(filled["wanted"]), filled["changes"])
    reply.show([subscription_messages.subscribed_message(bot, kept)])


def _told(reply: Reply, text: str, pause: float | None = None) -> Outcome:
    try:
        reply.show([line(text)], stage="trouble")
    except SlackFailure as exc:
        log.warning("not told", why=str(exc))
    return Outcome(pause)
