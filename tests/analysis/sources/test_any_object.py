"""Objects of git that no git would write: each commit is listed and read, or told to be unreadable."""

import zlib
from collections.abc import Sequence
from hashlib import sha1
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import DigestError
from tests.servers.bare import BareRepository
from tests.servers.mirrored import REPOSITORY, Place, read_commits
from tests.strategies import HOSTILE, examples

PERSON = b"Ada <a@b> 1770000000 +0000"
PEOPLE = st.sampled_from(
    [PERSON, b"", b"Ada", b"Ada 5 +0000", b"<> 1 +0000", b"A <a> 99999999999999999999 +0000", b"A <a> -5 -9999", b"\xff\xfe <x> 7 +0000",
     b"A <a@<b>> 8 +0000", b"A <a> x y", b" <a> 9", b"A\x01 <a> 1770000000 +2500"]
)  # fmt: skip
HEADERS = st.sampled_from(
    [
        b"",
        b"encoding ISO-8859-1\n",
        b"encoding nonsense\n",
        b"encoding UTF-16\n",
        b"encoding \n",
        b"gpgsig x\n y\n",
        b"mergetag z\n",
        b"x\n",
    ]
)
MODES = st.sampled_from([b"100644", b"100755", b"120000", b"160000", b"100664", b"100600"])
NAMES = st.sampled_from(
    [b"a.py", b"b\n.py", b"\xff\xfe.py", b"a\tb", b'"q".md', b"-x", b"--upload-pack=x", b"\xe2\x80\xae", b" ", b".gitattributes", b".gitmodules",
     b"c\r", b"d" * 255, b"\x1b[31m", b"@@ -1 +1 @@", b"diff --git a b", b":(glob)*", b"<!channel>"]
)  # fmt: skip
CONTENTS = st.one_of(
    st.sampled_from([b"", b"x = 1\n", b"\0\1", b"* filter=x diff=y\n", b"no end", b"\r\n" * 5, b"\n@@ -1 +1 @@\ndiff --git a b\n"]),
    HOSTILE.map(lambda text: text.encode("utf-8", "replace")),
    st.binary(max_size=40),
)  # fmt: skip


class Odd(NamedTuple):
    """A commit: its people, other headers and message, and the files of its tree by name, each a mode and a content."""

    author: bytes
    committer: bytes
    headers: bytes
    message: bytes
    files: dict[bytes, tuple[bytes, bytes]]


ODD = st.builds(
    Odd,
    PEOPLE,
    PEOPLE,
    HEADERS,
    HOSTILE.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=60),
    st.dictionaries(NAMES, st.tuples(MODES, CONTENTS), max_size=4),
)


def written(bare: BareRepository, kind: str, content: bytes) -> str:
    """Write an object as it is, and return its SHA."""
    whole = b"%b %d\0%b" % (kind.encode(), len(content), content)
    sha = sha1(whole, usedforsecurity=False).hexdigest()
    path = bare.folder / "objects" / sha[:2] / sha[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return sha


def committed(bare: BareRepository, odd: Odd, parent: str) -> str:
    """Write a commit on top of another, with its tree and files."""
    rows = b""
    for name, (mode, content) in sorted(odd.files.items()):
        sha = "1" * 40 if mode == b"160000" else written(bare, "blob", content)
        rows += mode + b" " + name + b"\0" + bytes.fromhex(sha)
    head = f"tree {written(bare, 'tree', rows)}\nparent {parent}\n".encode()
    people = b"author " + odd.author + b"\ncommitter " + odd.committer + b"\n"
    return written(bare, "commit", head + people + odd.headers + b"\n" + odd.message)


@examples(2)
@given(st.lists(ODD, min_size=12, max_size=12))
def test_no_commit_of_any_objects_is_lost(place: Place, odds: Sequence[Odd]) -> None:
    """Twelve commits of odd people, encodings, names, modes and contents are twelve commits, each read as what it can be stored as."""
    shas = [place.second]
    for odd in odds:
        shas.append(committed(place.bare, odd, shas[-1]))
    (place.bare.folder / "refs/heads/main").write_text(f"{shas[-1]}\n")
    mirror = place.mirrors().updated(REPOSITORY, create=True)
    assert mirror
    with mirror:
        listed = mirror.compare(place.second, shas[-1]).commits
        assert [each.sha for each in listed] == shas[1:]
        for sha, found in read_commits(mirror, shas[1:]):
            assert not isinstance(found, DigestError), (sha, found)
            assert found.sha == sha
            assert found.model_dump_json().encode()


def test_a_date_beyond_64_bits_keeps_git_no_longer(place: Place) -> None:
    """A commit of the year three trillion is fetched like any other; git once computed its generation number for ever."""
    place.cloned()
    far = Odd(PERSON, b"A <a> 99999999999999999999 +0000", b"", b"Far", {b"a.py": (b"100644", b"x\n")})
    sha = committed(place.bare, far, committed(place.bare, far, place.second))
    (place.bare.folder / "refs/heads/main").write_text(f"{sha}\n")
    assert place.mirrors(command=20).updated(REPOSITORY, create=True)
