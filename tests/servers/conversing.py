"""What conversations are about: the sample's commits, a model that says true and made-up things, and what answers must be."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

from loopback.github import LoopbackGitHub, RecordedRepository
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from loopback.slack import LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.running import whole
from tests.servers.talk import Talk, links, markdown

COMMITS = sample_repository().commits
WEB = f"https://github.example/{SAMPLE_REPOSITORY}"
CONNECTOR = "676792fbb"  # [KVConnector][3/3] Retries, timeouts, --kv-connector and docs (#400)
RACE = "db2daf8f5"  # [Bugfix][Core] Fix race between abort and a running step (#409)
# Two commits that begin alike.
ALIKE = [
    recorded(number, sha=f"abcdef1{number}" * 5, message=f"[Core] Twin {number}", pull=None, parents=[])
    for number in (1, 2)
]
INVENTED = ("turbo_mode_x9", "nowhere.py", "deadbee")


def plausible(request: dict[str, Any]) -> str:
    """What a model could say: something true of the lines that fit the question best, and then what it made up."""
    prompt = request["messages"][1]["content"]
    if "response_format" in request:
        return _analysis(prompt)
    evidence, mark, question = re.split(r"\n(Question|问题): (?=[^\n]*\Z)", prompt)
    rows = re.findall(r"^([0-9a-f]{7}) (?:high|medium|low) \| ", evidence, re.MULTILINE)
    lines = list(changed_lines(evidence))
    if rows:
        true = {"Question": f"The one to look at is [{rows[0]}].", "问题": f"最值得看的是这一个 [{rows[0]}]。"}
        place = f"[{rows[0]}]"
    elif lines:
        before = re.findall(r"^person: (.*)$", evidence, re.MULTILINE)[-1:]
        words = {word.rstrip("s") for word in re.findall(r"[a-z]{4,}", " ".join([question, *before]).lower())}
        lines.sort(key=lambda each: -sum(word in f"{each[0]} {each[2]}".lower() for word in words))
        (place, name), (another, other) = [
            (f"[{path}:{number}]", max(re.findall(r"[A-Za-z_]{4,}", text), key=len)) for path, number, text in lines[:2]
        ]
        true = {
            "Question": f"It changes `{name}` {place}. Then there is `{other}` {another}.",
            "问题": f"这里改动了 `{name}` {place}。另外还有 `{other}` {another}。",
        }
    else:
        return {"Question": "I found nothing about this in the diff.", "问题": "在 diff 中没有找到相关内容。"}[mark]
    made_up = {
        "Question": f"It calls `turbo_mode_x9` now {place}. The rest moved [lantern/nowhere.py:7]. See [deadbee1].",
        "问题": f"现在调用 `turbo_mode_x9` {place}。其余部分已移动 [lantern/nowhere.py:7]。另见 [deadbee1]。",
    }
    return f"{true[mark]} {made_up[mark]}"


def long_answer(request: dict[str, Any]) -> str:
    """A plausible answer of several chunks, of which the first has a whole sentence."""
    said = plausible(request)
    return said if "response_format" in request else f"{said} {'And so on. ' * 60}"


def changed_lines(evidence: str) -> Iterator[tuple[str, int, str]]:
    """The changed lines that a prompt shows, as path, number and text."""
    path = ""
    for line in evidence.split("\n"):
        if found := re.match(r"[+-] (\d+) \| (.*[A-Za-z_]{4,}.*)", line):
            yield path, int(found[1]), found[2]
        elif re.fullmatch(r"[\w./-]+\.\w+", line):
            path = line


def _analysis(prompt: str) -> str:
    title = re.findall(r"^message:\n(.*)$", prompt, re.MULTILINE)[0].replace("`", "")
    names = ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies")
    whole = {"scope": [], "insight": dict.fromkeys(names, ""), "risks": [], "advice": []}
    summary = f"这个提交的标题是 `{title}`。" if "简体中文" in prompt else f"The commit is titled `{title}`."
    return json.dumps({"summary": summary, **whole, "move": "keep", "move_reason": ""}, ensure_ascii=False)


def sample_talk(stack: ExitStack, slack: LoopbackSlack, folder: Path, **settings: Any) -> Talk:
    """A talk with a bot on the sample's repository, to be entered; its GitHub ends with the stack."""
    recording = RecordedRepository(
        [*COMMITS.values(), *ALIKE], {"main": list(COMMITS)[-1], "twin1": ALIKE[0]["sha"], "twin2": ALIKE[1]["sha"]}
    )
    github = stack.enter_context(LoopbackGitHub({SAMPLE_REPOSITORY: recording}))
    return Talk(slack, github.url, folder, digest_repos=SAMPLE_REPOSITORY, **settings)


def assert_well(talk: Talk) -> None:
    """Slack refused nothing, and all that was said is finished, true, and leads somewhere."""
    assert [(call.method, call.response) for call in talk.slack.refusals] == []
    assert talk.slack.breaches == []
    for message in talk.everything():
        assert not message.streaming
        assert not any(invented in whole(message) for invented in INVENTED)
        if markdown(message):
            assert_leads_somewhere(message)


def assert_leads_somewhere(message: Message) -> None:
    """Every link leads to a commit or a pull request of the repository, and one to a line to one that its diff has on that side."""
    for label, address in links(markdown(message)):
        if pull := re.fullmatch(rf"{WEB}/pull/(\d+)", address):
            assert label.strip("\\") == f"#{pull[1]}"
            assert any(each["pull"]["number"] == int(pull[1]) for each in COMMITS.values() if each.get("pull"))
            continue
        found = re.fullmatch(rf"{WEB}/commit/([0-9a-f]{{40}})(?:#diff-([0-9a-f]{{64}})(?:([LR])(\d+))?)?", address)
        assert found, address
        sha, anchor, side, number = found.groups()
        assert sha in COMMITS
        if anchor is None:
            assert sha.startswith(label)
            continue
        (file,) = [each for each in COMMITS[sha]["files"] if sha256(each["filename"].encode()).hexdigest() == anchor]
        path, _, line = label.partition(":")
        assert path == file["filename"]
        # Of a day's commits the patches are not at hand: there a line is named, and its file is linked.
        shown = {each for each in sides(file.get("patch", "")) if side in (None, each[0])}
        assert (number or line) == line
        assert not line or int(line) in {each[1] for each in shown}


def sides(patch: str) -> Iterator[tuple[str, int]]:
    """The lines that a patch shows: ("L", n) of the old file, ("R", n) of the new one."""
    old = new = 0
    for line in patch.split("\n"):
        if header := re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)", line):
            old, new = int(header[1]), int(header[2])
        elif line.startswith("\\"):
            continue
        else:
            if not line.startswith("+"):
                yield "L", old
                old += 1
            if not line.startswith("-"):
                yield "R", new
                new += 1


def commits(answer: Message) -> set[str]:
    """The commits that an answer links to."""
    return {sha[:9] for sha in re.findall(r"/commit/([0-9a-f]{40})", markdown(answer))}
