"""What a person's request leads to: a command, a button, a message or a question is answered where it was asked."""

import structlog

from analysis.errors import DigestError, RateLimited
from bot.slack import commands, questioning
from bot.slack.blocks import escaped
from bot.slack.bot import Bot, Outcome
from bot.slack.delivering import SOON, line, until
from bot.slack.grammar import parse, plain
from bot.slack.replying import Reply
from bot.slack.requests import Request
from bot.slack.web import Refused, Unanswered
from bot.slack.words import slack_words

_ROUNDS = 6  # after which a request is given up
log = structlog.get_logger(__name__)


def respond(bot: Bot, key: str, round_: int) -> Outcome:
    """Answers a request; asks to be called again where something outside failed. Called again, it says nothing twice."""
    body = bot.mail.request(key)
    if not body:
        return Outcome()
    request = Request.model_validate(body)
    with structlog.contextvars.bound_contextvars(run=request.run):
        log.info(
            "asked",
            kind=request.kind,
            channel=request.channel,
            action=request.action if request.kind == "button" else "",
        )
        return _guarded(bot, request, Reply(bot, request), round_)


def _guarded(bot: Bot, request: Request, reply: Reply, round_: int) -> Outcome:
    """Whatever goes wrong is told to the person in a line; what may work later is tried again."""
    say = slack_words(bot.language)
    last = round_ >= _ROUNDS
    try:
        outcome = _dispatch(bot, request, reply)
        return outcome._replace(pause=None) if last else outcome
    except RateLimited as exc:
        pause = until(bot, exc.resets_at)
        if pause is None or last:
            return _told(reply, say.label("failed", reason=escaped(str(exc))))
        return _told(reply, say.label("resumes", reason=escaped(str(exc))))._replace(pause=pause)
    except Unanswered as exc:
        log.warning("slack does not answer", why=str(exc))
        return Outcome(failure=str(exc)) if last else Outcome(pause=SOON)
    except Refused as exc:
        log.warning("slack refuses", why=str(exc))
        return Outcome(failure=str(exc))
    except DigestError as exc:
        return _told(reply, say.label("failed", reason=escaped(str(exc))))
    except Exception:
        log.exception("this is a bug in vllm-digest")
        return _told(reply, say.label("bug", run=request.run))


def _dispatch(bot: Bot, request: Request, reply: Reply) -> Outcome:
    match request.kind:
        case "command":
            wish = parse(plain(request.text), bot.reading.known, bot.today)
            return commands.carry_out(bot, reply, wish)
        case "button" if request.action.startswith("which_"):
            return questioning.chosen(bot, request, reply)
        case "button":
            return commands.press(bot, request, reply)
        case "form":
            questioning.ask_in_form(bot, request, reply)
            return Outcome()
        case "message":
            return questioning.consider(bot, request, reply)


def _told(reply: Reply, text: str) -> Outcome:
    try:
        reply.show([line(text)], stage="trouble")
    except (Unanswered, Refused) as exc:
        log.warning("not told", why=str(exc))
    return Outcome()
