"""Five days of vLLM against the reference reports: what was right in them is here to the letter."""

import html
import json
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from typing import Any

import pytest

from loopback.github import RecordedRepository
from tests.data import reference_reports
from tests.servers.databases import empty_database
from tests.servers.github import FaultyGitHub
from tests.servers.launched import launched

DAYS = {"2026-01-07": 43, "2026-01-21": 33, "2026-01-29": 45, "2026-02-03": 40, "2026-02-05": 36}


@pytest.fixture(scope="module")
def vllm(vllm_commits: list[dict[str, Any]]) -> Iterator[FaultyGitHub]:
    with FaultyGitHub({"vllm-project/vllm": RecordedRepository(vllm_commits, web="https://github.com")}) as server:
        yield server


Digest = Callable[[str, str], str]


@pytest.fixture(scope="module")
def digest(vllm: FaultyGitHub, tmp_path_factory: pytest.TempPathFactory) -> Digest:
    """Gives what the command prints for a day in a form. It is run once: several tests look at the same, of one store."""
    folder = tmp_path_factory.mktemp("digest")
    settings = {
        **{key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG")},
        "GITHUB_API_URL": vllm.url,
        "DATABASE_URL": empty_database(folder / "digest.db"),
        "DIGEST_REPOS": "vllm-project/vllm",
        "DIGEST_MIRRORS": "",
        "DIGEST_TIMEZONE": "Asia/Shanghai",
        "DIGEST_LANGUAGE": "zh",
    }

    @cache
    def digest_of(day: str, form: str) -> str:
        ran = launched(("digest", day, "--format", form), folder, settings)
        assert ran.code == 0, ran.err
        return ran.out

    return digest_of


def rows(markdown: str) -> list[list[str]]:
    """The table's rows, their cells unescaped as GitHub shows them."""
    found = []
    for line in markdown.split("\n"):
        if re.match(r"\| \d{4}-\d\d-\d\d ", line):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            found.append([html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell.strip())) for cell in cells])
    return found


def github_slug(heading: str, seen: dict[str, int]) -> str:
    """The address that GitHub gives a heading."""
    plain = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", heading).replace("`", "")
    slug = re.sub(r"[^\w\- ]", "", html.unescape(plain).strip().lower()).replace(" ", "-")
    seen[slug] = seen.get(slug, -1) + 1
    return f"{slug}-{seen[slug]}" if seen[slug] else slug


@pytest.mark.parametrize("day", DAYS)
def test_the_table_equals_the_references(day: str, digest: Digest) -> None:
    """Every row of the table is the reference's, cell by cell."""
    # The baseline wrote titles raw; what it shows is what a browser shows of ours.
    expected = reference_reports()[day]["rows"]
    assert rows(digest(day, "markdown")) == expected
    assert len(expected) == DAYS[day]


@pytest.mark.parametrize("day", DAYS)
def test_the_statistics_add_up(day: str, digest: Digest) -> None:
    """The statistics line counts the table's rows and the sections' commits."""
    out = digest(day, "markdown")
    line = re.search(r"^> 本日共 (\d+) 个提交 \| 🔴高 (\d+) \| 🟡中 (\d+) \| 🟢低 (\d+)$", out, re.MULTILINE)
    assert line
    total, *tiers = (int(each) for each in line.groups())
    assert total == sum(tiers) == len(rows(out)) == DAYS[day]
    headed = {
        name: int(count)
        for name, count in re.findall(r"^#### .{1,2} (高|中|低)重要度变更 \((\d+)\)$", out, re.MULTILINE)
    }
    assert headed == {name: count for name, count in zip("高中低", tiers, strict=True) if count}
    assert len(re.findall(r"^### .*\n\*\*SHA\*\*", out, re.MULTILINE)) == total


@pytest.mark.parametrize("day", DAYS)
def test_every_link_of_the_contents_leads_somewhere(day: str, digest: Digest) -> None:
    """By GitHub's rules for headings, or an anchor that is there once, every link of the contents resolves."""
    out = digest(day, "markdown")
    contents = out[out.index("## 📋 目录") : out.index("\n#### ")]
    links = re.findall(r"\]\(#([^)]+)\)$", contents, re.MULTILINE)
    seen: dict[str, int] = {}
    slugs = {github_slug(heading, seen) for heading in re.findall(r"^#{1,6} (.*)$", out, re.MULTILINE)}
    anchors = re.findall(r'^<a id="([0-9a-f]{7})"></a>$', out, re.MULTILINE)
    assert len(anchors) == len(set(anchors)) == DAYS[day]
    assert set(links) <= slugs | set(anchors)
    assert len(links) >= DAYS[day] + 4


def test_the_constant_parts_are_the_references(digest: Digest) -> None:
    """What is the same every day in the reference of 2026-02-03 stands in ours word for word and in the same order."""
    ours = digest("2026-02-03", "markdown")
    assert ours.startswith(reference_reports()["2026-02-03"]["head"])
    constant = [
        r"\n\n### 📊 统计摘要\n> 本日共 40 个提交 \| 🔴高 \d+ \| 🟡中 \d+ \| 🟢低 \d+\n## 📋 目录\n\n- \[vllm-project/vllm\]\(#",
        r"\n  - \[📊 统计摘要\]\(#-统计摘要\)\n  - \[🔴 高重要度变更 \(\d+\)\]\(#",
        r"\n    - \[\[Models\] Intern-S1-Pro \(#33636\)\]\(#a3acfa1\)\n",
        r"\n    - \[\[XPU\]\[1/N\] Deprecate ipex and switch to vllm-xpu-kernels \.\.\.\]\(#e106044\)\n",
        r"\n#### 🔴 高重要度变更 \(\d+\)\n",
        r"\n\*\*SHA\*\*: `a3acfa1` \| 🔗 \[查看提交\]\(https://github\.com/vllm-project/vllm/commit/a3acfa10719a931111caccd08ef19f1551b2fe1e\)\n\n",
        r"\n\*\*🎯 变更类型\*\*：[^\n]+  \n\*\*⚡ 重要程度\*\*：🔴高  \n",
        r"\n\*\*📋 变更摘要\*\*  \n",
        r"\n\*\*🎯 影响范围\*\*  \n",
        r"\n\*\*💡 关注建议\*\*  \n",
        r"\n\*\*⚡ 重要程度\*\*：🟢低  \n",
        r"\n\*\*📋 摘要\*\*：",
        r"\n---\n",
    ]
    for pattern in constant:
        # Where the contents lead to is ours: the reference's own links were wrong.
        assert re.search(pattern, ours), pattern


def test_the_json_holds_all_that_the_older_layout_had(digest: Digest) -> None:
    """Full SHA, address, whole message and the seven fields of an analysis are in the JSON for all 43 commits."""
    day = json.loads(digest("2026-01-07", "json"))
    messages = reference_reports()["2026-01-07"]["messages"]
    by_sha = {commit["sha"]: commit for commit in day["commits"]}
    assert len(messages) == 28
    for sha, digest_of_message in messages.items():
        assert by_sha[sha]["url"] == f"https://github.com/vllm-project/vllm/commit/{sha}"
        assert sha256(" ".join(by_sha[sha]["message"].split()).encode()).hexdigest() == digest_of_message
    assert len(by_sha) == 43
    for commit in day["commits"]:
        assert commit["change_types"]
        assert commit["importance"] in ("high", "medium", "low")
        assert set(commit["analysis"]) == {"by", "summary", "scope", "insight", "risks", "advice"}
        assert {"architecture", "performance", "security"} <= set(commit["analysis"]["insight"])


def test_a_month_asks_each_thing_once(digest: Digest, vllm: FaultyGitHub) -> None:
    """Five days, and one of them again in another form, ask for five lists and each commit once."""
    for day in DAYS:
        digest(day, "markdown")
    digest("2026-01-07", "json")
    asked = [path for path, _, _ in vllm.requests]
    assert sum(path.endswith("/commits") for path in asked) == 5
    assert len(asked) == 5 + sum(DAYS.values())
    assert len(set(asked)) == 1 + sum(DAYS.values())
