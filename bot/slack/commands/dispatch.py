"""Execution of commands, and of the buttons in their replies."""

import json
from datetime import date

from analysis.errors import Misuse, OutsideFailure, Unreachable
from analysis.locale import catalogue, mark
from analysis.models import Commit, Repository
from bot.services.deliveries import Delivery, Outcome
from bot.services.lookup import SeveralCommits
from bot.services.reference import Reference
from bot.services.subjects import (
    CommitRef,
    DayRef,
    commit_value,
    day_value,
    parse_commit_value,
    parse_day_value,
    parse_page_value,
    parse_value,
)
from bot.slack.bot import Bot
from bot.slack.commands import subscribe
from bot.slack.commands.examples import examples_of, forms
from bot.slack.commands.home import home_view
from bot.slack.commands.status import status_message, subscription_messages
from bot.slack.delivery import postings, steps
from bot.slack.delivery.channel_report import report_of
from bot.slack.delivery.reply import Reply
from bot.slack.messages import subscriptions
from bot.slack.messages.blocks import Action, Message, escaped, section
from bot.slack.messages.commit import commit_messages
from bot.slack.messages.digest import rest_messages, summary_message
from bot.slack.messages.lists import PAGE_SIZE, DayRow, range_message, search_messages, which_message
from bot.slack.parsing.commands import (
    MOST_DAYS,
    Command,
    Day,
    Days,
    Help,
    ListSubscriptions,
    Lookup,
    NotUnderstood,
    Search,
    Status,
    Subscribe,
    Unsubscribe,
    Why,
    Wrong,
)
from bot.slack.parsing.requests import Request
from bot.slack.web import SlackFailure
from bot.store import Draft, Verdict

_MOST_FOUND = 1_000  # search results available by paging
_WHY: dict[Why, str] = {
    "future": mark(" (it lies in the future)"),
    "backwards": mark(" (it runs backwards)"),
    "too_many": mark(" ({most} days at most)"),
}


def carry_out(bot: Bot, request: Request, reply: Reply, wish: Command) -> Outcome:
    """Execute a command; the caller reports errors to the person."""
    if isinstance(wish, Subscribe | Unsubscribe | ListSubscriptions | Status):
        reply.show(_about_subscriptions(bot, request, wish))
        return Outcome()
    match wish:
        case Day():
            return _days_digest(bot, request, reply, wish)
        case Days():
            return _range(bot, reply, wish)
        case Lookup():
            _commit(bot, request, reply, wish)
        case Search():
            reply.show(_found(bot, wish, 0))
        case Wrong():
            raise wish.complaint
        case Help():
            reply.show([help_message(bot, request, reply.addressing)])
        case NotUnderstood():
            reply.show([not_understood(bot, wish, reply.addressing)])
    return Outcome()


def help_message(bot: Bot, request: Request, addressing: str) -> Message:
    """Return the list of commands, with examples from the repositories that the channel subscribes to."""
    say, known = catalogue(bot.language), bot.reading.known
    followed = [each.terms.repository for each in subscribe.held_here(bot, request.channel)]
    shown = examples_of(bot, (*followed, *known))
    rows = [f"{_code(addressing + form)}  {what}" for form, what in forms(shown, bot.language)]
    text = "\n".join(
        [
            say("You can ask me:"),
            *rows,
            say(
                "The same words work when you mention me or write to me directly; in a commit's thread just ask. Configured: {known}",
                known=", ".join(f"`{escaped(str(each))}`" for each in known),
            ),
        ]
    )
    return Message(say("You can ask me:"), (section(text),))


def not_understood(bot: Bot, wish: NotUnderstood, addressing: str) -> Message:
    """Return one line with the input that was not understood and the nearest command that would work."""
    say = catalogue(bot.language)
    why = say(_WHY[wish.why], most=MOST_DAYS) if wish.why else ""
    nearest = f"{addressing}{wish.nearest or 'help'}"
    told = say("I do not understand {text}{why}; try {nearest}", text=_code(wish.text), why=why, nearest=_code(nearest))
    return steps.line(told)


def press(bot: Bot, request: Request, reply: Reply) -> Outcome:
    """Handle a button of a digest, a commit or a list."""
    say = catalogue(bot.language)
    match request.action:
        case "show_rest":
            reply.show(rest_messages(report_of(bot, parse_day_value(request.text))))
        case "full_report":
            reply.show(
                [
                    steps.line(
                        say("📄 Full report sent to your DMs")
                        if _send_report(bot, request)
                        else say(
                            "📄 A private repository's report stays in its channel: once posted there, it is in the thread"
                        )
                    )
                ]
            )
        case "page":
            _page(bot, request, reply)
        case Action.POST | Action.POST_AGAIN:
            return _post(bot, request, reply)
        case "too_high" | "too_low":
            before = _label(bot, request)
            reply.show(
                [
                    steps.line(
                        say("Thank you, noted in place of what you said before")
                        if before
                        else say("Thank you, noted; calibrating the ranking will use it")
                    )
                ]
            )
        case "unsubscribe":
            _end(bot, request, reply)
        case "ask" | "ask_commit" | "open_subscribe" | "edit_subscription":
            reply.show([steps.line(say("⚠️ The form did not open; press the button again"))])
        case "settings":
            reply.show(_about_subscriptions(bot, request, ListSubscriptions()))
        case "send_again" | "drop_held" if bot.web.is_operator(request.user):
            _release(bot, request)
    return Outcome()


def _end(bot: Bot, request: Request, reply: Reply) -> None:
    """Cancel a subscription and confirm it where its button was: in a reply or in the App Home."""
    ended = subscribe.end(bot, request)
    say = catalogue(bot.language)
    told = (
        say("🗑️ Unsubscribed: {what}", what=subscriptions.describe(ended, bot.language))
        if ended
        else say("This subscription has ended already")
    )
    if request.channel:
        reply.show([steps.line(escaped(told))])
    else:
        bot.web.publish_home(request.user, home_view(bot, request.user, told))


def _label(bot: Bot, request: Request) -> Verdict | None:
    """Store a person's verdict on a commit's tier; return their earlier one, or None."""
    ref = parse_commit_value(request.text)
    located = bot.reading.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
    entry = bot.reading.entry(located, ref.language)
    verdict: Verdict = "too_high" if request.action == "too_high" else "too_low"
    tier = entry.ranked.importance
    return bot.subscriptions.label(located.repository, entry.commit.sha, request.user, verdict, tier, bot.now())


def _release(bot: Bot, request: Request) -> None:
    """Resend a held message, which searches Slack for it first, or drop it."""
    if request.action == "send_again":
        bot.outbox.send(request.text)
    else:
        bot.outbox.drop(request.text)
    bot.web.publish_home(request.user, home_view(bot, request.user))


def _about_subscriptions(
    bot: Bot, request: Request, wish: Subscribe | Unsubscribe | ListSubscriptions | Status
) -> list[Message]:
    match wish:
        case Subscribe():
            return [subscription_messages(bot).subscribed(subscribe.subscribe(bot, request, wish.wanted))]
        case Unsubscribe():
            return _ended(bot, request, wish)
        case ListSubscriptions():
            held = subscribe.held_here(bot, request.channel)
            offered = subscriptions.OFFERED if subscribe.may_change(bot, request) else ()
            return subscription_messages(bot).listed(
                held, subscriptions.heading_of(request.channel, bot.language), offered
            )
        case Status():
            return [status_message(bot, subscribe.held_here(bot, request.channel))]


def _ended(bot: Bot, request: Request, wish: Unsubscribe) -> list[Message]:
    """Cancel the only matching subscription, or all if requested; otherwise ask which one."""
    say = catalogue(bot.language)
    if wish.everything:
        ended = subscribe.unsubscribe_all(bot, request)
        told = say(
            "🗑️ Unsubscribed: {what}", what=", ".join(subscriptions.describe(each, bot.language) for each in ended)
        )
        return [steps.line(escaped(told if ended else say("No subscriptions yet")))]
    held = subscribe.unsubscribe(bot, request, wish.repository)
    if len(held) == 1:
        told = say("🗑️ Unsubscribed: {what}", what=subscriptions.describe(held[0], bot.language))
        return [steps.line(escaped(told))]
    if wish.repository and not held:
        heading = say("{what} is not subscribed here", what=wish.repository)
        if held := subscribe.held_here(bot, request.channel):
            return subscription_messages(bot).listed(held, f"{heading}{say('; these are:')}")
        return [steps.line(escaped(heading))]
    return subscription_messages(bot).listed(held, say("Which subscription should I cancel?"), ("unsubscribe",))


# Days and ranges


def _days_digest(bot: Bot, request: Request, reply: Reply, wish: Day) -> Outcome:
    wanted = [wish.repository] if wish.repository else bot.reading.known
    if not wanted:
        raise Misuse(catalogue(bot.language)("there is no repository to be seen here"))
    shareable, pauses = reply.private and subscribe.may_post(bot, request), []
    for repository in wanted:
        try:
            pauses.append(_digest(bot, reply, repository, wish.day, shareable=shareable))
        except (Misuse, Unreachable) as exc:
            if len(wanted) == 1:
                raise
            subject = escaped(f"{repository} · {wish.day}")
            told = catalogue(bot.language)(
                "⚠️ {subject} could not be read: {reason}", subject=subject, reason=escaped(exc.translated(bot.language))
            )
            reply.show([steps.line(told)], stage=f"{repository.key}-trouble")
    return Outcome(pause=max(filter(None, pauses), default=None))


def _digest(bot: Bot, reply: Reply, repository: Repository, day: date, *, shareable: bool) -> float | None:
    """Show a repository's day. Return the seconds until the rest can be read, if some commits could not; else None."""
    subject = escaped(f"{repository} · {day}")
    report = bot.reading.day(repository, day, bot.tz, bot.language, bot.now(), reply.watching(subject))
    again = steps.until(bot, report.resumes_at)
    note = _posted_before(bot, reply, parse_day_value(day_value(report))) if shareable else ""
    messages = summary_message(report, shareable=shareable, note=note)
    if report.resumes_at:
        at = f"{report.resumes_at.astimezone(bot.tz):%H:%M}"
        messages = [
            *messages,
            steps.line(
                catalogue(bot.language)(
                    "⏳ {subject}: GitHub's request limit is used up; I go on at {time}", subject=subject, time=at
                )
            ),
        ]
    reply.show(messages, about=day_value(report), stage=f"{repository.key}{'-partial' if again else ''}")
    return again


def _range(bot: Bot, reply: Reply, wish: Days) -> Outcome:
    rows = []
    trouble = ""
    for day in wish.days:
        for repository in [wish.repository] if wish.repository else bot.reading.known:
            ref = DayRef(repository, day, bot.tz.key, bot.language)
            if trouble:
                rows.append(DayRow(ref, None))
                continue
            watching = reply.watching(escaped(f"{repository} · {day}"))
            try:
                report = bot.reading.day(repository, day, bot.tz, bot.language, bot.now(), watching, ask=False)
            except OutsideFailure as exc:
                trouble = exc.translated(bot.language)
                rows.append(DayRow(ref, None, trouble))
                continue
            trouble = report.failed[0].translated(bot.language) if report.resumes_at else ""
            rows.append(DayRow(ref, report.stats, trouble))
    reply.show(range_message(rows, bot.language))
    return Outcome()


# Commits


def _commit(bot: Bot, request: Request, reply: Reply, wish: Lookup) -> None:
    try:
        located = bot.reading.commit(wish.reference, wish.repository)
    except SeveralCommits as exc:
        reply.show(which(bot, exc, ""))
        return
    entry = bot.reading.entry(located, bot.language)
    shareable = reply.private and subscribe.may_post(bot, request)
    value = commit_value(located.repository, entry.commit, bot.language)
    note = _posted_before(bot, reply, parse_commit_value(value)) if shareable else ""
    messages = commit_messages(
        located.repository, entry, bot.language, bot.tz, public=not reply.private, shareable=shareable, note=note
    )
    reply.show(messages, about=value)


def which(bot: Bot, several: SeveralCommits, question: str) -> list[Message]:
    """Return messages that ask which of several commits is meant; the buttons carry the question."""
    stored = bot.reading.services.store.commits([each.commit_id for each in several.candidates])
    found = [(each.repository, one.commit) for each, one in zip(several.candidates, stored, strict=True)]

    def value(repository: Repository, commit: Commit) -> str:
        return json.dumps({"what": commit_value(repository, commit, bot.language), "question": question[:1000]})

    return which_message(found, value, bot.language)


def _found(bot: Bot, wish: Search, offset: int) -> list[Message]:
    """Return one page of search results; its paging buttons carry the equivalent command, `again`."""
    if wish.repository:
        bot.reading.allow(wish.repository)
    among = [wish.repository] if wish.repository else bot.reading.known
    # An empty `among` means all repositories to the store; here it means that none is visible.
    hits = bot.reading.services.store.search(wish.words, among, offset + PAGE_SIZE + 1)[offset:] if among else []
    again = f"{wish.repository} search {wish.words}" if wish.repository else f"search {wish.words}"
    return search_messages(
        wish.words,
        [(each.repository, each.commit) for each in hits[:PAGE_SIZE]],
        offset // PAGE_SIZE,
        more=len(hits) > PAGE_SIZE and offset < _MOST_FOUND,
        language=bot.language,
        tz=bot.tz,
        again=again,
    )


# Buttons


def _page(bot: Bot, request: Request, reply: Reply) -> None:
    page = parse_page_value(request.text)
    wish = bot.understood(page.words)
    if isinstance(wish, Search):
        reply.show(_found(bot, wish, page.offset), replace=True)


def _send_report(bot: Bot, request: Request) -> bool:
    """Send a day's report as a file to the person's DMs; return False for a private repository, which stays in its channels."""
    report = report_of(bot, parse_day_value(request.text))
    channel = bot.web.direct(request.user)
    if bot.reading.within(channel).hides(report.repository):
        return False
    key = f"report:{report.repository.key}:{report.date}:{request.run}:{channel}:000"
    bot.outbox.freeze([Draft(key, channel, steps.report_file(report))])
    bot.outbox.send(key)
    return True


def _posted_before(bot: Bot, reply: Reply, ref: DayRef | CommitRef) -> str:
    """Return a line with the link to an existing post; empty if there is none, or Slack fails."""
    try:
        link = postings.find_link(bot, reply.channel, ref)
    except SlackFailure:
        return ""
    return postings.told(ref, link) if link else ""


def _post(bot: Bot, request: Request, reply: Reply) -> Outcome:
    """Start the delivery of a private reply's content to the channel, or link to an existing post.

    A private reply is posted once, however often its button is clicked; "Post again" posts on each click.
    """
    say, ref = catalogue(bot.language), parse_value(request.text)
    bot.reading.allow(ref.repository)
    if not bot.web.is_member(request.channel, request.user):
        reply.show(
            [
                steps.line(
                    say(
                        "I am not in this channel; invite me first: `/invite @{name}`", name=escaped(bot.web.me["user"])
                    )
                )
            ]
        )
        return Outcome()
    subscribe.check_insider(bot, request, request.channel)
    again = request.action == Action.POST_AGAIN
    if not again and (link := postings.find_link(bot, request.channel, ref)):
        reply.show([postings.linked_message(ref, link, request.text)])
        return Outcome()
    reply.show([steps.line(say("📣 Posting to the channel"))], replace=request.private)
    account = f"again-{request.user}-{request.run}" if again else f"adhoc-{request.user}-{request.ts or request.run}"
    return Outcome(deliveries=(Delivery(account, request.channel, request.text, request.run),))


def _code(text: str) -> str:
    """Format a person's text as code with Slack's tokens escaped; nothing else is live inside code."""
    return f"`{escaped(text).replace('`', chr(39))}`" if text else ""
