"""The reference's analyses of a day, said again by a model: the report has their structure and none of their false paths."""

import json
import re
from typing import Any

import pytest

from loopback.github import RecordedRepository
from tests.conftest import SHARED, Run
from tests.servers.chat import ScriptedChat
from tests.servers.github import FaultyGitHub

DAY = "2026-01-29"
_PATH = re.compile(r"`([\w./-]+/[\w.-]+\.(?:py|md|cu|cuh|h|cpp|txt|yaml|yml|toml|sh|json|jinja))`")


def replies() -> dict[str, str]:
    """Short SHA -> the reference's analysis as the form that a model fills in."""
    text = (SHARED / "seeds" / f"{DAY}.md").read_text("utf-8")
    found = {}
    for section in re.split(r"^### (?=.*\n\*\*SHA\*\*)", text, flags=re.MULTILINE)[1:]:
        sha = re.search(r"\*\*SHA\*\*: `([0-9a-f]{7})`", section)
        body = section.split("\n", 3)[3].rsplit("\n---", 1)[0]
        parts = re.split(
            r"^\W*\**\s*\W*(变更摘要|摘要|影响范围|技术洞察|潜在风险|关注建议)\**[：:]?\**", body, flags=re.MULTILINE
        )
        fields = {name: told.strip() for name, told in zip(parts[1::2], parts[2::2], strict=False)}

        def items(name: str, fields: dict[str, str] = fields) -> list[str]:
            lines = [
                re.sub(r"^\s*(?:[-*|]|\d+\.)\s*", "", line).replace("**", "")
                for line in fields.get(name, "").split("\n")
            ]
            return [line for line in lines if len(line) > 5][:12]

        insight = dict.fromkeys(
            ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies"), ""
        )
        insight["architecture"] = " ".join(items("技术洞察")[:4])
        reply: dict[str, Any] = {
            "summary": " ".join((fields.get("变更摘要") or fields.get("摘要") or body).split()).replace("**", "")[
                :1000
            ],
            "scope": items("影响范围"),
            "insight": insight,
            "risks": [{"risk": risk, "severity": "medium", "mitigation": ""} for risk in items("潜在风险")],
            "advice": items("关注建议"),
            "move": "keep",
            "move_reason": "",
        }
        assert sha
        found[sha[1]] = json.dumps(reply, ensure_ascii=False)
    return found


def test_the_references_false_paths_are_gone(run: Run, vllm_commits: list[dict[str, Any]]) -> None:
    """Fed with the reference's own words, the report has its sections for all 45 commits and names no file that a commit does not touch."""
    told = replies()
    assert len(told) == 45

    def say(request: dict[str, Any]) -> str:
        asked = re.search(r"^commit ([0-9a-f]{7})$", request["messages"][1]["content"], re.MULTILINE)
        assert asked
        return told[asked[1]]

    github = RecordedRepository(vllm_commits, web="https://github.com")
    with FaultyGitHub({"vllm-project/vllm": github}) as server, ScriptedChat(say) as chat:
        ran = run(
            "digest", DAY, "--format", "json", server=server, DIGEST_REPOS="vllm-project/vllm", DIGEST_TIMEZONE="Asia/Shanghai",
            DIGEST_LANGUAGE="zh", DIGEST_MODEL="scripted", OPENAI_BASE_URL=chat.url,
        )  # fmt: skip
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    by_model = [commit for commit in report["commits"] if commit["analysis"]["by"] == "model"]
    # The recorded commits have no patches: a summary that names only code cannot be borne out, and the rules take over.
    assert len(by_model) >= 25
    assert report["coverage"]["analysed"] + report["coverage"]["by_rules"] == 45
    assert report["usage"]["removed_claims"] > 0
    for commit in by_model:
        for path in _PATH.findall(
            json.dumps([commit["analysis"]["summary"], *commit["analysis"]["scope"]], ensure_ascii=False)
        ):
            assert any(touched.endswith(path) or path in touched for touched in commit["paths"]), (commit["sha"], path)
    medium = [commit for commit in by_model if commit["importance"] == "medium"]
    assert all(commit["analysis"]["summary"] for commit in by_model)
    assert any(commit["analysis"]["scope"] for commit in medium)


def test_every_reference_analysis_was_found() -> None:
    """The test's own reading of the reference finds a summary in each of the day's 45 analyses."""
    if not (SHARED / "seeds").exists():
        pytest.skip("../shared/seeds is not here")
    assert all(json.loads(reply)["summary"] for reply in replies().values())
