"""Redaction of secrets in text before anything else reads it.

A secret becomes `[REDACTED:1]`, with the same number throughout one commit: `API_KEY=K` in one file reveals the meaning
of `connect("K")` in another. Placeholders keep the number of lines, so that hunks stay intact.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from analysis.models import Commit, Fact, FileChange, Proof
from analysis.models.impacts import Impact, UpstreamPlace
from analysis.sources.secret_detection import REDACTED, SecretPlace, credentials_in, is_key_file, secrets_in
from analysis.sources.secret_values import is_unmistakable

# What a private key stands between; in a file of PuTTY the number of its lines and their signature.
_KEY_BEGIN = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|Private-Lines: *\d+(?=\W{1,40}[\w+/]{32})"
_KEY_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|Private-(?:MAC|Hash):")
_PRIVATE_KEY = re.compile(rf"({_KEY_BEGIN})(.*?)({_KEY_END.pattern}|\Z)", re.DOTALL)
# What a diff writes before a line; git repeats an earlier line of the file, such as one of a key, behind a hunk's header.
_DIFF_PREFIX = r"(?:@@ [^@\n]+ @@ ?|[-+ ])?"
# A line of a private key, after a diff's prefix and inside quotes or a comment; one of less than this width may be a word.
_KEY_LINE = re.compile(_DIFF_PREFIX + r"""[\s"'#*]*(=?[A-Za-z0-9+/]+={0,2})(?:\\n)?[\s"',\\)]*""")
_KEY_WIDTH = 32
_KEY_END_WIDTH = 4  # the last line's, which is base64 as well
_NO_NEWLINE = "\\ No newline at end of file"


class _Scanned(NamedTuple):
    """A text with its private keys blanked, and the other secrets found in it."""

    text: str
    places: tuple[SecretPlace, ...]


def redacted(commit: Commit) -> Commit:
    """Redact the commit's message, author's name, file names, patches and pull request.

    A secret found in one of these is redacted in all of them.
    """
    pull = commit.pull
    names = [name for file in commit.files for name in (file.path, file.previous_path) if name]
    patches = [(file.path, file.patch) for file in commit.files if file.patch]
    texts = [commit.message, commit.author, *((pull.title, pull.body) if pull else ())]
    redact = Redactor(texts, file_names=names, files=patches)
    return commit.model_copy(
        update={
            "message": redact(commit.message),
            "author": redact(commit.author),
            "files": tuple(_redacted_file(file, redact) for file in commit.files),
            "pull": pull and pull.model_copy(update={"title": redact(pull.title), "body": redact(pull.body)}),
        }
    )


def redacted_facts(found: Sequence[Fact]) -> tuple[Fact, ...]:
    """Redact secrets in what facts quote from whole files, which were not scanned when they were read."""
    quoted = [_quotation(fact) for fact in found if fact.proof is Proof.FILES]
    if not quoted:
        return tuple(found)
    redact = Redactor(quoted)
    return tuple(_redacted_fact(fact, redact) if fact.proof is Proof.FILES else fact for fact in found)


def redacted_impacts(found: Sequence[Impact]) -> tuple[Impact, ...]:
    """Redact secrets in what impacts quote of the upstream code, which was not scanned when it was read."""
    redact = Redactor(sorted({text for each in found for text in (each.upstream.before, each.upstream.after) if text}))

    def redacted_place(place: UpstreamPlace) -> UpstreamPlace:
        values = {"before": place.before, "after": place.after}
        return place.model_copy(update={name: text and redact(text) for name, text in values.items()})

    return tuple(each.model_copy(update={"upstream": redacted_place(each.upstream)}) for each in found)


def _quotation(fact: Fact) -> str:
    """Return a fact as assignments, in which the scanners recognise the value of a password."""
    return "\n".join(f"{fact.name} = {value}" for value in (fact.old, fact.new) if value) or fact.name


def _redacted_fact(fact: Fact, redact: "Redactor") -> Fact:
    quotation = _quotation(fact)
    if redact(quotation) == quotation:
        return fact
    values = {name: redact(value) if value else None for name, value in (("old", fact.old), ("new", fact.new))}
    return fact.model_copy(update=values)


def _redacted_file(file: FileChange, redact: "Redactor") -> FileChange:
    return file.model_copy(
        update={
            "path": redact(file.path),
            "previous_path": file.previous_path and redact(file.previous_path),
            "patch": file.patch and redact(file.patch),
        }
    )


class Redactor:
    """Redacts secrets in texts that belong together, such as those of one commit, numbering them in order.

    A secret found in one text is redacted in all of them, unless it could be an ordinary word. The `files` are paths with
    texts or patches: of a file for credentials every value is secret, and a hunk may show the middle of a key, without its marks.
    """

    def __init__(
        self,
        texts: Iterable[str] = (),
        *,
        file_names: Iterable[str] = (),
        files: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._numbers: dict[str, int] = {}
        self._scanned: dict[str, _Scanned] = {}
        self._recurring: dict[str, str] = {}  # each recurring string -> the secret that it belongs to
        for name in file_names:
            self._scan(name)
        for path, text in files:
            if is_key_file(path):
                self._remember_key(_key_lines(text))
            self._scan(text, path)
        for text in texts:
            self._scan(text)

    def __call__(self, text: str) -> str:
        """Replace every known or newly found secret in `text` by its placeholder."""
        if not text:
            return text
        scanned = self._scan(text)
        pieces, end = [], 0
        for place in _merged([*scanned.places, *self._recurrences(scanned.text)]):
            pieces += [scanned.text[end : place.start], self._in_place(scanned.text[place.start : place.end], place)]
            end = place.end
        return "".join([*pieces, scanned.text[end:]])

    def _scan(self, text: str, path: str = "") -> _Scanned:
        """Scan a text for secrets, once; of a file with its path."""
        if text not in self._scanned:
            blanked = self._without_keys(text)
            by_name = (SecretPlace(start, end, blanked[start:end]) for start, end in credentials_in(path, blanked))
            self._scanned[text] = _Scanned(blanked, self._learn(blanked, [*secrets_in(blanked), *by_name]))
        return self._scanned[text]

    def _learn(self, text: str, places: Iterable[SecretPlace]) -> tuple[SecretPlace, ...]:
        """Remember the secrets at these places of a text, so that they are found in other texts."""
        found = tuple(places)
        for each in found:
            values = {each.secret, text[each.start : each.end]}
            self._recurring |= {value: each.secret for value in values if is_unmistakable(value)}
        return found

    def _recurrences(self, text: str) -> Iterator[SecretPlace]:
        """Yield where a text repeats a known secret."""
        for value, secret in self._recurring.items():
            start = text.find(value)
            while start >= 0:
                end = start + len(value)
                yield SecretPlace(start, end, secret)
                start = text.find(value, end)

    def _placeholder(self, secret: str) -> str:
        return f"{REDACTED}{self._numbers.setdefault(secret, len(self._numbers) + 1)}]"

    def _in_place(self, covered: str, place: SecretPlace) -> str:
        """Return the placeholder for each covered line, after the diff's sign."""
        placeholder = self._placeholder(place.secret)
        signs = [line[:1] if line[:1] in ("+", "-", " ") else "" for line in covered.split("\n")[1:]]
        return "\n".join([placeholder, *(sign + placeholder for sign in signs)])

    def _without_keys(self, text: str) -> str:
        """Blank the private keys of a text: between the marks of each, and the lines of a key beside an END mark.

        A hunk may show a key without its BEGIN mark; and where a diff replaces a key, the removed one's END mark stands
        between the BEGIN mark that both have and the new key.
        """
        blanked = _PRIVATE_KEY.sub(self._key_block, text)
        if not _KEY_END.search(blanked):
            return blanked
        lines = blanked.split("\n")
        keys: dict[int, tuple[re.Match[str], str]] = {}
        for mark in [number for number, line in enumerate(lines) if _KEY_END.search(line)]:
            beside = _key_lines_beside(lines, mark)
            pieces = [match[1] for match in beside.values()]
            self._remember_key(pieces)
            secret = "".join(pieces)
            keys |= {number: (match, secret) for number, match in beside.items()}
        for number, (match, secret) in sorted(keys.items()):
            lines[number] = match.string[: match.start(1)] + self._placeholder(secret) + match.string[match.end(1) :]
        return "\n".join(lines)

    def _remember_key(self, pieces: Sequence[str]) -> None:
        """Remember the lines of a private key, so that they are found in other texts."""
        secret = "".join(pieces)
        self._recurring |= {piece: secret for piece in pieces if is_unmistakable(piece)}

    def _key_block(self, match: re.Match[str]) -> str:
        """Blank each line of a private key, except for the diff's sign."""
        begin, body, end = match.groups()
        pieces = _key_lines(body)
        secret = "".join(pieces) or body.strip() or begin
        self._remember_key(pieces)
        placeholder = self._placeholder(secret)
        lines = body.split("\n")
        blanked = [lines[0] and placeholder] + [_diff_prefix(line) + placeholder for line in lines[1:]]
        if not end.strip():
            return begin + "\n".join(blanked)
        # The last line is what precedes the END marker: a diff's sign, or nothing.
        blanked[-1] = lines[-1][:1] if len(lines) > 1 else blanked[-1]
        return begin + "\n".join(blanked) + end


def _diff_prefix(line: str) -> str:
    match = re.match(_DIFF_PREFIX, line)
    return match[0] if match else ""


def _key_lines(body: str) -> list[str]:
    """Return the lines of a private key's body, in a block or in a string with escaped line breaks.

    The last line of a key may be short, as words are: it counts behind one of full width.
    """
    found: list[str] = []
    least = _KEY_WIDTH
    for match in (_KEY_LINE.fullmatch(line) for line in re.split(r"\n|\\n", body)):
        if match and len(match[1]) >= least:
            found.append(match[1])
        least = _KEY_END_WIDTH if match and len(match[1]) >= _KEY_WIDTH else _KEY_WIDTH
    return found


def _key_lines_beside(lines: Sequence[str], mark: int) -> dict[int, re.Match[str]]:
    """Return the lines of private keys directly around an END mark, by their numbers; group 1 of each is what is secret.

    The last line of a key may be short, as words are: lines count up to the one of full width that is farthest away.
    """
    found: dict[int, re.Match[str]] = {}
    for side in (range(mark - 1, -1, -1), range(mark + 1, len(lines))):
        shorter: dict[int, re.Match[str]] = {}
        for number in side:
            match = _KEY_LINE.fullmatch(lines[number])
            if not match and lines[number] != _NO_NEWLINE:
                break
            if match:
                shorter[number] = match
            if match and len(match[1]) >= _KEY_WIDTH:
                found |= shorter
                shorter.clear()
    return dict(sorted(found.items()))


def _merged(places: Iterable[SecretPlace]) -> Iterator[SecretPlace]:
    """Yield the places in order, overlapping ones merged under the first, or the longest, secret."""
    last: SecretPlace | None = None
    for place in sorted(places, key=lambda each: (each.start, -each.end)):
        if last and place.start < last.end:
            last = last._replace(end=max(last.end, place.end))
            continue
        if last:
            yield last
        last = place
    if last:
        yield last
