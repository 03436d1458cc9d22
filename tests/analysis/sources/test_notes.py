"""What release notes name."""

import pytest

from analysis.models import Repository
from analysis.sources.release_notes import named

ENGINE = Repository(owner="Acme", name="engine")
NOTES = """# v2
## Highlights
* Budgets (#12, #13), see https://github.com/acme/engine/pull/14 and https://github.com/other/engine/pull/15
```
# Breaking: #16 in code is a comment
```
### Breaking Changes
- Gone: `--old` (#21)
#### In the server
- Gone too (#22)
### Fixes
- Fixed (#23)
**Deprecations & removals:**
- Old (#24)
## Other
- **Breaking**: one (#25)
- `a#26` and &#39;x&#39;
* Do it by @ada in https://github.com/acme/engine/pull/31
## What's Changed
* Everything (#41)
### Nested
* Everything (#42)
## New Contributors
* @bob (#43)
"""


def test_notes_name_pull_requests_by_number_and_by_address() -> None:
    """Numbers and addresses of the repository count; code, other repositories and GitHub's own lists do not."""
    assert named(NOTES, ENGINE).every == {12, 13, 14, 21, 22, 23, 24, 25}


def test_notes_tell_what_breaks() -> None:
    """What stands under a heading on breaking changes breaks, down to the next heading of its level, as does a line that begins so."""
    assert named(NOTES, ENGINE).breaking == {21, 22, 24, 25}


@pytest.mark.parametrize("notes", ["", "See the changelog.", "#", "# 12", "#x", "```\n#12"])
def test_notes_may_name_nothing(notes: str) -> None:
    """Notes without pull requests name none."""
    assert named(notes, ENGINE) == (frozenset(), frozenset())
