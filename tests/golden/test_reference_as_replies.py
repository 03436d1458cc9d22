"""The reference's analyses of a day, said again by a model: the report has their structure and none of their false paths."""

import json
import re
from typing import Any

from loopback.github import RecordedRepository
from tests.conftest import Run
from tests.data import reference_reports
from tests.servers.chat import ScriptedChat
from tests.servers.github import FaultyGitHub

DAY = "2026-01-29"
_PATH = re.compile(r"`([\w./-]+/[\w.-]+\.(?:py|md|cu|cuh|h|cpp|txt|yaml|yml|toml|sh|json|jinja))`")


def replies() -> dict[str, str]:
    """Short SHA -> the reference's analysis as the form that a model fills in; what it names, without its prose."""
    names = ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies")
    return {
        sha: json.dumps(
            {
                "summary": told["summary"][:1000],
                "scope": told["scope"][:12],
                "insight": {name: told["insight"].get(name, "") for name in names},
                "risks": [
                    {"risk": risk, "severity": "medium", "mitigation": mitigation}
                    for risk, mitigation in told["risks"][:12]
                ],
                "advice": told["advice"][:12],
                "move": "keep",
                "move_reason": "",
            },
            ensure_ascii=False,
        )
        for sha, told in reference_reports()[DAY]["analyses"].items()
    }


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
