"""Questions in threads and direct messages: detection of those for the bot, their subject, and their answers.

In a commit's thread the bot answers when mentioned, or to a question that mentions nobody else; in a digest's thread when
mentioned or when a commit is named; in direct messages always. Otherwise it is silent.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from analysis.errors import Misuse, UnknownCommit
from analysis.locale import Phrase, mark
from analysis.models import Entry, Question, Turn
from analysis.questions.intent import language_of, reads_as_question, references_in
from analysis.questions.search import names_in
from bot.services.answers import answered
from bot.services.deliveries import Outcome
from bot.services.lookup import Located, SeveralCommits
from bot.services.reference import Reference, parse_reference
from bot.services.selection import touched
from bot.services.subjects import CommitRef, DayRef, commit_value, parse_value
from bot.slack.bot import Bot
from bot.slack.commands import dispatch
from bot.slack.delivery.reply import Reply
from bot.slack.parsing.commands import Help, Lookup, NotUnderstood, plain
from bot.slack.parsing.requests import Request
from bot.slack.web import about_of, key_of
from bot.slack.web_errors import SlackFailure

_QUESTION_INTERVAL = timedelta(seconds=6)  # sustained rate: one question per person; answers cost tokens
_QUESTION_BURST = timedelta(minutes=2)  # burst: this much backlog of questions is allowed
_TURNS = 12  # messages of a thread passed as history; the answer's own limit may be lower
_TURN = 2_000  # characters of a message in the history
_LINK = re.compile(r"\[((?:\\.|[^\[\]\\\n])*)\]\(https?://[^()\s]*\)")
_BEST = 3  # commits of a day used to answer a question that names code
_BESIDE = 2  # commits named in another commit's thread that are included


def concerns(bot: Bot, request: Request) -> bool:
    """Return whether a message could be meant for the bot; only such messages are stored."""
    if request.mentioned or request.direct or request.root_is_ours:
        return True
    return bool(request.thread_ts and bot.mail.thread(request.channel, request.thread_ts))


def consider(bot: Bot, request: Request, reply: Reply) -> Outcome:
    """Answer a message if it is meant for the bot."""
    text = plain(request.text, bot.web.me["user_id"])
    about = _about(bot, request)
    if request.mentioned or request.direct:
        wish = bot.understood(text)
        if not text and request.thread_ts:
            wish = Help()
        if not isinstance(wish, NotUnderstood):
            return dispatch.carry_out(bot, request, reply, wish)
        if not about and not references_in(text):
            about = bot.mail.latest_thread(request.channel) if request.direct and reads_as_question(text) else ""
            if not about:
                return dispatch.carry_out(bot, request, reply, wish)
    elif not _invited(request, text, about):
        return Outcome()
    ask(bot, request, reply, about, text)
    return Outcome()


def ask_in_form(bot: Bot, request: Request, reply: Reply) -> None:
    """Answer a question from the modal of an "Ask" button."""
    ask(bot, request, reply, request.text, request.action, shown=not reply.private)


def chosen(bot: Bot, request: Request, reply: Reply) -> Outcome:
    """Continue with the commit chosen from several: show it, or answer the pending question."""
    choice = json.loads(request.text)
    ref = parse_value(choice["what"])
    if choice["question"]:
        ask(
            bot,
            request,
            Reply(bot, request, public=not request.private),
            choice["what"],
            choice["question"],
            named=(),
            shown=True,
        )
    elif isinstance(ref, CommitRef):
        wish = Lookup(Reference(ref.sha, sha=ref.sha), ref.repository)
        return dispatch.carry_out(bot, request, reply, wish)
    return Outcome()


def ask(
    bot: Bot,
    request: Request,
    reply: Reply,
    about: str,
    question: str,
    *,
    named: Sequence[str] | None = None,
    shown: bool = False,
) -> None:
    """Answer a question about the subject `about` and the commits that it names; ask which if ambiguous.

    `named` overrides the references found in the question; `shown` quotes the question above the answer.
    """
    if _too_many(bot, request):
        reply.slow_down(mark("Slower, please: about 10 questions a minute a person"))
        return
    ref = parse_value(about) if about else None
    try:
        located = _named_commits(bot, ref, references_in(question) if named is None else named)
    except SeveralCommits as exc:
        reply.show(dispatch.which(bot, exc, question), stage="which")
        return
    language = language_of(question, ref.language if ref else bot.language)
    if isinstance(ref, CommitRef):
        own = bot.reading.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
        located = [own, *(each for each in located if each != own)][: 1 + _BESIDE]
    elif len(located) > 1:
        reply.show(dispatch.which(bot, SeveralCommits("", located), question), stage="which")
        return
    also: tuple[Entry, ...] | None = None
    if located:
        entries = tuple(bot.reading.entry(each, language, patches=True) for each in located)
        repository = located[0].repository
        about = about or commit_value(repository, entries[0].commit, language)
    elif isinstance(ref, DayRef):
        repository, entries, also = ref.repository, *_commits_of_day(bot, ref, question)
    else:
        raise UnknownCommit(Phrase("the question is about no commit; name one, or ask in the thread of one"))
    asked = Question(question, repository, entries, _thread(bot, request), also)
    reply.stream(answered(bot.reading.services, asked, language), about, question if shown else "")


def _invited(request: Request, text: str, about: str) -> bool:
    """Return whether a message without a mention of the bot is still meant for it."""
    if not about or re.search(r"<[@!](?!here|channel|everyone)", request.text):
        return False
    return reads_as_question(text) if isinstance(parse_value(about), CommitRef) else bool(references_in(text))


def _too_many(bot: Bot, request: Request) -> bool:
    """Return whether a person exceeds the limit for questions. One that is tried again after a failure counts once."""
    limit = f"questions {request.user}"
    wait = bot.mail.reserve_slot(limit, bot.now(), _QUESTION_INTERVAL, most=_QUESTION_BURST, owner=request.run)
    return wait > _QUESTION_BURST


def _about(bot: Bot, request: Request) -> str:
    """Return the subject of a message's thread, from the store or else from the metadata of its first message."""
    if not request.thread_ts:
        return ""
    known = bot.mail.thread(request.channel, request.thread_ts)
    if known or not request.root_is_ours:
        return known
    try:
        root = bot.web.thread(request.channel, request.thread_ts)[:1]
    except SlackFailure:
        return ""
    about = about_of(root[0]) if root else ""
    if about:
        bot.mail.keep_thread(request.channel, request.thread_ts, about)
    return about


def _named_commits(bot: Bot, ref: DayRef | CommitRef | None, names: Sequence[str]) -> list[Located]:
    """Return the distinct commits that a question names, ignoring references that are not commits, such as issues."""
    found: list[Located] = []
    for name in names:
        try:
            located = bot.reading.commit(parse_reference(name), ref.repository if ref and "/" not in name else None)
        except SeveralCommits:
            raise
        except Misuse:
            if ref is None or (len(names) == 1 and isinstance(ref, DayRef)):
                raise
            continue
        if located not in found:
            found.append(located)
    return found


def _commits_of_day(bot: Bot, ref: DayRef, question: str) -> tuple[tuple[Entry, ...], tuple[Entry, ...] | None]:
    """Return a day's commits, and None; if the question names code, the best matches with patches, and the other matches."""
    tz, store = ZoneInfo(ref.timezone), bot.reading.services.store
    report = bot.reading.day(ref.repository, ref.day, tz, ref.language, bot.now(), ask=False)
    places = touched(report, names_in(question), store)
    if not places:
        return report.entries + report.late, None
    touching = [each for each in report.entries + report.late if each.commit.sha in places]
    touching.sort(key=lambda each: (-len(places[each.commit.sha]), -each.ranked.score))
    best = [Located(ref.repository, store.with_sha(each.commit.sha, ref.repository)[0][1]) for each in touching[:_BEST]]
    entries = (bot.reading.entry(each, ref.language, patches=True) for each in best)
    return tuple(entries), tuple(touching[_BEST:])


def _thread(bot: Bot, request: Request) -> tuple[Turn, ...]:
    """Return the earlier messages of the thread; empty if Slack does not provide them."""
    if not request.thread_ts or request.private:
        return ()
    try:
        said = bot.web.thread(request.channel, request.thread_ts)
    except SlackFailure:
        return ()
    me = bot.web.me["user_id"]
    before = [
        each for each in said if not request.ts or float(each["ts"]) < float(request.ts) or request.kind != "message"
    ]
    # Of our own messages only answers count: a digest's parts in its thread are not conversation.
    spoken = [each for each in before if each.get("user") != me or key_of(each).startswith("answer:")]
    turns = [_turn(each, me) for each in spoken[-_TURNS:]]
    return tuple(turn for turn in turns if turn.text)


def _turn(message: Mapping[str, Any], me: str) -> Turn:
    """Convert a message to a turn; in our own ones drop link URLs, which are long and carry no information."""
    text = plain(str(message.get("text") or ""), me)
    if message.get("user") != me:
        return Turn(who="person", text=text[:_TURN])
    read = re.sub(r"\\([^\w\s]|_)|\u200b", r"\1", _LINK.sub(r"[\1]", text)).replace("\u2024", ".")
    return Turn(who="bot", text=read[:_TURN])
