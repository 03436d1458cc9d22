"""The page of the local workspace, as a browser's requests see it: who is let in, and what is shown."""

import json
import random
import re
import time
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import pytest
from markupsafe import Markup

from bot.local.workspace import ADA, CHANNELS, LIN
from loopback.page import Page
from loopback.page.actions import states
from loopback.page.blocks import blocks
from loopback.page.text import markdown, mrkdwn
from loopback.slack import LoopbackSlack
from tests.servers.workspace import quiet_workspace

EN = CHANNELS["en"]


@pytest.fixture(scope="module")
def workspace() -> Iterator[tuple[LoopbackSlack, Page]]:
    with quiet_workspace(digest_language="en", digest_timezone="UTC") as (slack, page):
        slack.workspace.add_user("Zoë <b>", "U0ZOE")
        yield slack, page


@pytest.fixture
def slack(workspace: tuple[LoopbackSlack, Page]) -> LoopbackSlack:
    return workspace[0]


@pytest.fixture
def page(workspace: tuple[LoopbackSlack, Page]) -> Page:
    return workspace[1]


def ask(
    page: Page, path: str = "", body: Any = None, key: str | None = None, **headers: str
) -> tuple[HTTPResponse, bytes]:
    """One request; the page's own key and host unless others are given."""
    url = urlsplit(page.url)
    connection = HTTPConnection(str(url.hostname), url.port, timeout=10)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    target = f"/{page.key if key is None else key}/{path}"
    if body is None:
        connection.request("GET", target, headers=given)
    else:
        connection.request("POST", target, json.dumps(body), {"Content-Type": "application/json", **given})
    reply = connection.getresponse()
    try:
        return reply, b"" if path.startswith("events") and reply.status == 200 else reply.read()
    finally:
        connection.close()


def do(page: Page, act: str, body: Any, user: str = ADA) -> tuple[int, Any]:
    reply, data = ask(page, f"do/{act}?as={user}", body)
    return reply.status, json.loads(data)


def first_news(page: Page, user: str = ADA) -> Any:
    """What a browser is told when it comes."""
    url = urlsplit(page.url)
    connection = HTTPConnection(str(url.hostname), url.port, timeout=10)
    connection.request("GET", f"/{page.key}/events?as={user}")
    with connection.getresponse() as reply:
        line = reply.readline()
    connection.close()
    return json.loads(line.removeprefix(b"data: "))


# Who is let in


@pytest.mark.parametrize("path", ["", "static/page.js", "events", "source?ts=1", "files/F1", "do/say"])
def test_nothing_is_told_without_the_key(page: Page, path: str) -> None:
    """Every address needs the key."""
    for key in ("", "x", page.key[:-1], f"{page.key}x", page.key.swapcase()):
        reply, data = ask(page, path, key=key)
        assert (reply.status, data) == (403, b'{"error": "wrong key"}')


def test_what_is_no_json_is_not_taken(page: Page, slack: LoopbackSlack) -> None:
    """A form of another page, which a browser sends without asking, is refused, also with the key."""
    before = len(slack.channel(EN))
    assert ask(page, "do/say", {"channel": EN, "text": "from elsewhere"}, Content_Type="text/plain")[0].status == 415
    assert len(slack.channel(EN)) == before


def test_the_policy_lets_nothing_run_but_our_files(page: Page) -> None:
    """Every answer forbids inline scripts, foreign hosts, frames and referrers."""
    for path in ("", "static/page.js", "static/page.css", "source?ts=none"):
        reply, _ = ask(page, path)
        policy = reply.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["X-Content-Type-Options"] == "nosniff"


def test_only_the_pages_own_files_are_served(page: Page) -> None:
    """There is no way to another file of this machine."""
    for name in ("../server.py", "..%2fserver.py", "index.html", "%2e%2e/server.py", "/etc/passwd", "", "x.js"):
        assert ask(page, f"static/{name}")[0].status == 404


def test_an_address_may_be_a_name_of_this_machine(page: Page) -> None:
    """A forwarded port keeps working: localhost is this machine on any port."""
    assert ask(page, Host="localhost:8080")[0].status == 200


# What people do


def test_what_is_said_is_said_by_the_player(page: Page, slack: LoopbackSlack) -> None:
    """A message is posted as the player typed it."""
    status, body = do(page, "say", {"channel": EN, "text": "a < b"}, LIN)
    assert status == 200
    message = next(each for each in slack.channel(EN) if each.ts == body["ts"])
    assert (message.user, message.text) == (LIN, "a &lt; b")


def test_an_outsider_sees_and_enters_only_the_shared_channel(page: Page) -> None:
    """Of the channels an outsider has the one that is shared, and the messages with the bot."""
    names = [each["name"] for each in first_news(page, LIN)["channels"]]
    assert names == ["upstream-digest", "vllm-digest"]
    assert do(page, "say", {"channel": CHANNELS["zh"], "text": "hello"}, LIN)[0] == 409


@pytest.mark.parametrize(
    ("act", "body"),
    [
        ("say", {}),
        ("say", {"channel": EN, "text": " "}),
        ("say", {"channel": 7, "text": "x"}),
        ("say", {"channel": "C0NONE", "text": "x"}),
        ("say", []),
        ("press", {"channel": EN, "ts": "1", "action": "x"}),
        ("press", {"view": "V1", "action": "x", "state": "no"}),
        ("press", {"channel": EN, "ts": "1"}),
        ("submit", {"view": "V1"}),
        ("close", {"view": None}),
        ("explode", {}),
    ],
)
def test_what_cannot_be_done_is_refused(page: Page, act: str, body: Any) -> None:
    """A request that makes no sense gets an error, and the server goes on."""
    status, answer = do(page, act, body)
    assert status == (404 if act == "explode" else 409)
    assert answer["error"]


def test_a_command_that_nobody_answers_fails_as_in_slack(page: Page, slack: LoopbackSlack) -> None:
    """Without a bot, whoever typed a command is told that it timed out."""
    status, body = do(page, "command", {"channel": EN, "text": "help"})
    assert (status, body) == (200, {"failed": "operation_timeout"})
    assert "operation_timeout" in slack.private(ADA, EN)[-1].text


def test_the_bot_is_invited_where_it_is_not(page: Page, slack: LoopbackSlack) -> None:
    """`/invite @bot` makes it a member and says so; nobody else can be invited, and nobody twice."""
    channel = slack.workspace.add_channel("lonely", members={ADA})
    assert do(page, "invite", {"channel": channel, "text": "@somebody"})[0] == 409
    assert do(page, "invite", {"channel": channel, "text": "@VLLM-digest"})[0] == 200
    assert slack.workspace.bot_user in slack.workspace.channels[channel].members
    assert "has joined the channel" in slack.channel(channel)[-1].text
    assert do(page, "invite", {"channel": channel, "text": "@vllm-digest"})[0] == 409
    assert len(slack.channel(channel)) == 1


def test_a_name_from_right_to_left_stays_in_its_place(page: Page) -> None:
    """What " · " sets apart is isolated where a part of it is written from right to left, and plain elsewhere."""
    context = {"type": "context", "block_id": "c", "elements": [{"type": "plain_text", "text": "#1 · דנה · 2 files"}]}
    shown = blocks([context], page.viewer({}))
    assert "<bdi>#1</bdi> · <bdi>דנה</bdi> · <bdi>2 files</bdi>" in shown
    context["elements"] = [{"type": "plain_text", "text": "#1 · Dana"}]
    assert "<bdi>" not in blocks([context], page.viewer({}))


def test_private_replies_are_told_to_one_person(page: Page, slack: LoopbackSlack) -> None:
    """An ephemeral message is in the news of whom it is for, marked so, and in nobody else's."""
    message = slack.workspace.post(EN, slack.workspace.bot_user, text="just for you", only_for=ADA)
    mine = first_news(page)["items"][f"{EN}/{message.ts}"]
    assert mine["private"]
    assert "Only visible to you" in mine["html"]
    assert f"{EN}/{message.ts}" not in first_news(page, LIN)["items"]
    reply, _ = ask(page, f"source?as={LIN}&channel={EN}&ts={message.ts}")
    assert reply.status == 404


# Hostile text

_TAGS = {
    *("article", "div", "span", "p", "a", "h2", "h3", "h4", "h5", "h6", "hr", "br", "ul", "ol", "li", "blockquote"),
    *("pre", "code", "em", "strong", "s", "u", "mark", "time", "small", "button", "svg", "path", "table", "caption"),
    *("thead", "tbody", "tr", "th", "td", "select", "option", "input", "textarea", "label"),
    *("form", "header", "footer", "details", "summary", "b"),
}
ATOMS = (
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "javascript:alert(1)"),
    *("<javascript:alert(1)|click>", '<https://a.example" onmouseover=alert(1)|x>', "[x](javascript:alert(1))"),
    *("![x](https://evil.example/p.png)", "<https://evil.example|evil>", "[a](data:text/html,<script>)", "</article>"),
    *("</script>", "<!--", "-->", "<![CDATA[", "&lt;script&gt;", "&amp;lt;", "&#60;script&#62;", "`", "```", "*", "_"),
    *("~", "> ", "\n", "\n\n", "# ", "| a | b |\n|---|---|\n| <b> | x |\n", "<@U0ZOE>", "<@U0ADA|<b>>", "<#C0EN|<i>>"),
    *(
        "<!date^1^{date}^javascript:alert(1)|x>",
        "<!date^99999999999^{time}|x>",
        "<!channel>",
        "\u202e",
        "\u0000",
        "\x1b[31m",
    ),
    *(
        "https://evil.example/<script>",
        "<style>*{display:none}</style>",
        "<iframe src=//evil.example>",
        '<a href="//x">',
    ),
    *(
        "{{7*7}}",
        "{0}",
        "%s",
        "\ud800",
        "\U0001f600",
        "中文",
        "' onclick='alert(1)",
        "<form action=//evil.example>",
        "x" * 300,
    ),
)


class Read(HTMLParser):
    """Every element of some HTML, checked as it is read."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in {"style", "src", "srcset", "srcdoc", "action", "formaction", "xlink:href", "background"}
            if name == "href":
                assert re.match(r"https?://[^\s/]|#", value or ""), value
                if not (value or "").startswith("#"):
                    assert dict(attrs)["target"] == "_blank"
                    assert "noreferrer" in (dict(attrs)["rel"] or "")


def checked(html: str) -> str:
    parser = Read(convert_charrefs=True)
    parser.feed(html)
    parser.close()
    return html


def every_block(text: str) -> list[dict[str, Any]]:
    """A block of each kind, with the text wherever there is one."""
    plain, rich = {"type": "plain_text", "text": text}, {"type": "mrkdwn", "text": text}
    pieces = [
        {"type": "text", "text": text, "style": {"bold": True, "italic": True, "strike": True, "code": True}},
        {"type": "link", "url": text, "text": text},
        {"type": "link", "url": f"https://ok.example/{text}"},
        {"type": "user", "user_id": text},
        {"type": "channel", "channel_id": text},
    ]
    section = {"type": "rich_text_section", "elements": pieces}
    rich_text = {
        "type": "rich_text",
        "elements": [
            section,
            {"type": "rich_text_list", "style": "bullet", "elements": [section]},
        ],
    }
    option = {"text": plain, "value": text, "description": plain}
    confirm = {"title": plain, "text": rich, "confirm": plain, "deny": plain}
    shared = {"action_id": text, "placeholder": plain, "confirm": confirm}
    menus: list[dict[str, Any]] = [
        {"type": "button", "text": plain, "value": text, "url": text, "action_id": "a1", "confirm": confirm},
        {"type": "static_select", "options": [option], "initial_option": option, **shared},
        {"type": "conversations_select", **shared},
        {"type": "timepicker", "initial_time": text, **shared},
        {"type": "datepicker", "initial_date": text, **shared},
        {"type": "plain_text_input", "initial_value": text, "multiline": True, **shared},
        {"type": "plain_text_input", "initial_value": text, **shared},
        {"type": text, "action_id": "unknown"},
    ]
    given: list[dict[str, Any]] = [
        {"type": "header", "text": plain},
        {"type": "section", "text": rich},
        {"type": "context", "elements": [rich, plain]},
        {"type": "actions", "elements": menus},
        *({"type": "input", "label": plain, "hint": plain, "element": menu} for menu in menus if menu["type"] != "button"),
        {"type": "markdown", "text": text},
        rich_text,
        {"type": text},
    ]  # fmt: skip
    return [{**block, "block_id": f"{text[:40]}{place}"} for place, block in enumerate(given)]


def test_hostile_text_stays_text(page: Page) -> None:
    """A thousand generated texts in every field of every block bring no element, handler or address of their own."""
    dice = random.Random(6)
    viewer = page.viewer({})
    for _ in range(1000):
        text = "".join(dice.choice(ATOMS) for _ in range(dice.randint(1, 9)))
        checked(str(mrkdwn(text, viewer)))
        checked(str(markdown(text)))
        if dice.random() < 0.1:
            checked(str(blocks(every_block(text), viewer)))


def test_a_hostile_message_is_told_as_text(page: Page, slack: LoopbackSlack) -> None:
    """What the browser gets of a whole message, names and file names included, holds nothing live."""
    text = "".join(ATOMS)
    slack.workspace.post(EN, "U0ZOE", text=text.replace("\ud800", ""), only_for=ADA)
    for item in first_news(page)["items"].values():
        checked(item["html"])


def test_long_runs_of_marks_take_no_time(page: Page) -> None:
    """A text of the longest length is shown whole, in seconds where reading it again from every mark would take minutes."""
    viewer = page.viewer({})
    begun = time.process_time()
    for text in (
        " _a" * 13_000,
        " *a" * 13_000,
        "<" * 40_000,
        "`" * 39_999,
        "> " * 20_000,
        "~a ~" * 10_000,
        "```" * 13_000,
    ):
        shown = unescape(re.sub(r"<[^>]*>", "", str(mrkdwn(text, viewer))))
        assert shown.count("a") == text.count("a")
        assert shown.count("<") == text.count("<")
    assert time.process_time() - begun < 20


# How it looks


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*bold* _it_ ~no~ `c*o*de`", "<strong>bold</strong> <em>it</em> <s>no</s> <code>c*o*de</code>"),
        ("2*3*4 snake_case_name a~b~c", "2*3*4 snake_case_name a~b~c"),
        ("*_both_*", "<strong><em>both</em></strong>"),
        ("a &amp;lt; &lt;b&gt;", "a &amp;lt; &lt;b&gt;"),
        ("```x < *y*```", "<pre>x &lt; *y*</pre>"),
        ("&gt; one\n&gt; two\nthree", "<blockquote>one\ntwo</blockquote>three"),
        ("<@U0ADA> <@U0BOT>", '<span class="mention me">@Ada</span> <span class="mention">@vllm-digest</span>'),
        ("<#C0EN>", '<a href="#C0EN" class="mention">#upstream-digest</a>'),
        ("<!here>", '<span class="mention">@here</span>'),
        ("<mailto:a@b.example|a@b>", "<span>a@b</span>"),
        ("<javascript:x|y>", "<span>y</span>"),
    ],
)
def test_mrkdwn_is_shown_as_slack_shows_it(page: Page, text: str, html: str) -> None:
    """Slack's marks become styles, and what only looks like one does not."""
    assert mrkdwn(text, page.viewer({})) == Markup(html)


def test_links_open_elsewhere_and_tell_nothing(page: Page) -> None:
    """A link has a window of its own and no referrer."""
    shown = mrkdwn("<https://a.example/?x=1&amp;y=2|*a*>", page.viewer({}))
    assert shown == ('<a href="https://a.example/?x=1&amp;y=2" target="_blank" rel="noreferrer noopener">*a*</a>')


def test_markdown_is_shown_without_pictures_and_headings_of_the_page() -> None:
    """Headings stand below the page's own, tables move in a frame, pictures are links."""
    shown = markdown("# One\n\n![p](https://x.example/p.png)\n\n| a |\n|---|\n| b |\n\n1. x\n\n~~no~~ **yes**")
    assert "<h3>One</h3>" in shown
    assert "<img" not in shown
    assert '<div class="scroll" tabindex="0"><table>' in shown
    assert "<s>no</s> <strong>yes</strong>" in shown


def test_every_kind_of_block_is_shown(page: Page) -> None:
    """Each block that the bot posts has a look of its own, and shows its text."""
    for block in every_block("Hello"):
        shown = str(blocks([block], page.viewer({})))
        assert "Hello" in shown, block["type"]
        assert ("Not shown here" in shown) is (
            block["type"] == "Hello" or block.get("element", {}).get("type") == "Hello" or block["type"] == "actions"
        ), block["type"]


def test_inputs_that_were_emptied_are_empty() -> None:
    """A form sends what is in it: what was emptied is empty, what was not touched is as it began."""
    option = {"text": {"type": "plain_text", "text": "A"}, "value": "a"}
    given = [
        {
            "type": "input",
            "block_id": "t",
            "element": {"type": "plain_text_input", "action_id": "x", "initial_value": "old"},
        },
        {"type": "input", "block_id": "o", "element": {"type": "static_select", "action_id": "x", "options": [option]}},
        {"type": "input", "block_id": "r", "element": {"type": "rich_text_input", "action_id": "x"}},
    ]
    sent = states(given, {"t": {"x": None}, "o": {"x": "a"}, "no": {"x": 1}})
    assert sent["t"]["x"] == {"type": "plain_text_input", "value": None}
    assert sent["o"]["x"] == "a"
    assert sent.keys() == {"t", "o"}


def test_code_in_a_message_is_shown_as_slack_shows_it() -> None:
    """The two entities that a message must use are signs again in its code, and stay what was written in a file's."""
    text = "`f&lt;T&gt;`\n\n```\na &lt; b\n```"
    message, file = str(markdown(text, in_message=True)), str(markdown(text))
    assert "<code>f&lt;T&gt;</code>" in message
    assert "a &lt; b" in message
    assert "<code>f&amp;lt;T&amp;gt;</code>" in file
