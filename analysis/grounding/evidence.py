"""Statements about a change, judged by the lines of the diff: what they say to be removed, added, renamed, set, deprecated or kept.

A model ends such a statement with the numbers of the lines that prove it, `[12, 14-15]`. Those lines are read first; where
they prove nothing, or none are given, any lines of the commit with the statement's names and values may. What no line
proves is no evidence against a name that the diff does not have: whether it exists others judge.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

from analysis.grounding import statements as say
from analysis.grounding.corpus import SPAN, Corpus, number
from analysis.grounding.diff_lines import DiffLines, NumberedLine
from analysis.grounding.metadata import NEGATION
from analysis.grounding.statements import bare, code_names, last_part, said_pairs, word_pattern
from analysis.models import FactKind

_DEFAULTS = frozenset({FactKind.DEFAULT_CHANGED, FactKind.CONDITIONAL_DEFAULT})
_BESIDE = range(-4, 3)  # lines about a notice that may name what it is about
_DEFINITION = re.compile(
    r"\s*(?:async )?def (?!_)\w+\(|\s*class (?!_)|\s*[\"']--\w|[A-Z][A-Z0-9_]+\s*[:=]|\s+\w+: [^=]+=\s|.*add_argument\("
)
_TRUE, _FALSE = (
    re.compile(rf"[=:(,]\s*(?:{words})\b", re.IGNORECASE)
    for words in ("True|1|[\"']1[\"']", "False|0|None|[\"']0[\"']")
)
_FAILS = re.compile(r"\s*(?:raise|assert)\b")
_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
_IMPLICIT = frozenset(  # that code raises without naming them
    {"AssertionError", "AttributeError", "ImportError", "IndexError", "KeyError", "ModuleNotFoundError", "TypeError"}
)


_OF_OWNER = re.compile(r"^[^,、]*[a-z]s (?:are|were|have)\b")  # what several of one name's have in common


class Evidence:
    """The lines of a commit's diff with their numbers, what is told of it, and what rules proved."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._lines = DiffLines(corpus.commits)

    def doubtful(self, sentence: str, cited: frozenset[int] = frozenset()) -> str:
        """Return the part of a sentence that the diff contradicts or does not bear out; "" without one.

        Of a commit with a file that was not read nothing is judged.
        """
        if not self._corpus.has_all_patches:
            return ""
        lines = self._lines.cited(cited)
        found = chain(
            self._changes(sentence),
            self._pairs(sentence, lines),
            self._defaults(sentence, lines),
            self._kept(sentence, lines),
            self._requirements(sentence),
            self._deprecations(sentence),
            self._places(sentence, lines),
            self._outcomes(sentence, lines),
            self._sayings(sentence),
        )
        return next(found, "")

    def _changes(self, sentence: str) -> Iterator[str]:
        """Yield names that are said to be removed or added and are not."""
        for pattern, gone in ((say.REMOVES, True), (say.ADDS, False)):
            for match in pattern.finditer(sentence):
                clause = say.clause_around(sentence, match)
                before, _, after = clause.partition(match[0])
                if NEGATION.search(say.NO_LONGER.sub("", before + match[0])) or say.ELSEWHEN.search(before + after):
                    continue
                names = code_names(match[match.lastgroup or 0])
                if match["passive"] and _OF_OWNER.search(match[0]):
                    names = names[1:]  # "`Pool` fields are renamed"
                yield from (name for name in names if self._lines.has(name) and not self._moved(name, gone=gone))
                if match["passive"] and not gone and " new" in match[0].lower():
                    yield from (name for name in names if self._lines.has(name, "- "))

    def _pairs(self, sentence: str, cited: Sequence[NumberedLine]) -> Iterator[str]:
        """Yield what is said to have followed something else if the lines have it otherwise."""
        defaults = "default" in sentence.lower() or "默认" in sentence
        for old, new in said_pairs(sentence):
            if any(self._corpus.matching_paths(each.strip("`")) for each in (old, new)):
                continue
            names = [each for each in code_names(sentence) if each not in (bare(old), bare(new))]
            is_other = (defaults or new.isdigit()) and self._is_other_default(names, new, "+ ")
            if is_other or not self._follows(old, new, cited):
                yield f"{old} → {new}"

    def _follows(self, old: str, new: str, cited: Sequence[NumberedLine]) -> bool:
        """Return whether old is on the old side of a place and new on its new side, or the author says so."""
        if say.is_expression(old) or say.is_expression(new):  # lines may spell an expression otherwise
            return True
        was, now = bare(old), bare(new)
        told = [(bare(one), bare(other)) for one, other in said_pairs(self._corpus.told)]
        if (was, now) in told or (now, was) in told:
            return (was, now) in told
        lines = self._lines
        stays = old.startswith("`") and lines.balance(was) > 0  # and has more lines than before
        if stays or not lines.having(was, "- ") or not lines.having(now, "+ "):
            return False
        near = {each.place for each in cited}
        is_reversed = lines.became(now, was, near) and not lines.became(was, now, near)
        return (lines.balance(was) < 0 or lines.balance(now) > 0) and not is_reversed

    def _is_other_default(self, names: Sequence[str], value: str, signs: str) -> bool:
        """Return whether definitions give the names defaults, and none of them is a value."""
        known = [self._lines.defaults(name, signs) for name in names]
        return any(known) and not say.is_expression(value) and all(bare(value) not in each for each in known)

    def _defaults(self, sentence: str, cited: Sequence[NumberedLine]) -> Iterator[str]:
        """Yield a value that is said to be a default and is not where the sentence's names are."""
        if next(said_pairs(sentence), None):
            return
        names = [name for name in code_names(sentence) if self._lines.has(name)]
        near = {each.place for name in names for each in self._lines.having(name)}
        lines = [each for each in self._lines.all if each in cited or each.place in near]
        signs = "- " if say.WAS.search(sentence) else "+ "
        for match in say.DEFAULT.finditer(sentence):
            phrase = say.phrase_around(sentence, match)
            if NEGATION.search(phrase):
                continue
            value = next(filter(None, match.groups()))
            word = re.compile(word_pattern(bare(value)))
            shown = [each.sign for each in lines if word.search(each.text)]
            is_unknown = names and lines and not say.is_expression(value) and not word.search(self._corpus.told)
            is_defined = not say.ELSEWHEN.search(phrase) and self._is_other_default(names, value, signs)
            if is_defined or ((shown or is_unknown) and not any(sign in signs for sign in shown)):
                yield value
        for switch in say.SWITCHED.finditer(sentence):
            yield from () if NEGATION.search(say.phrase_around(sentence, switch)) else self._switched(switch, names)

    def _switched(self, match: re.Match[str], names: Sequence[str]) -> Iterator[str]:
        """Yield what is said to be on by default and is set to the opposite where it is named, or the other way round."""
        on = bool(match["on"] or match["zh_on"])
        claimed, opposite = (_TRUE, _FALSE) if on else (_FALSE, _TRUE)
        lines = [each.text for name in names for each in self._lines.having(name, "+ ")]
        by_author = {bool(each["on"] or each["zh_on"]) for each in say.SWITCHED.finditer(self._corpus.told)}
        if by_author == {not on} or (any(map(opposite.search, lines)) and not any(map(claimed.search, lines))):
            yield match[0]

    def _kept(self, sentence: str, cited: Sequence[NumberedLine]) -> Iterator[str]:
        """Yield names that are said to stay and are gone, and what is said of an interface that changes."""
        facts = self._corpus.facts
        breaking = {last_part(fact.name) for fact in facts if fact.breaking}
        for denied in say.DENIED.finditer(sentence):
            names = code_names(say.clause_around(sentence, denied))
            yield from (name for name in names if name in breaking or self._is_changed(name, cited))
        for absent in say.ABSENT.finditer(sentence):
            yield from (name for name in code_names(absent[0]) if self._lines.has(name, "-+"))
        same = say.SAME_DEFAULT.search(sentence)
        if same and any(fact.kind in _DEFAULTS for fact in facts):
            yield same[0]
        if unchanged := say.UNCHANGED_API.search(sentence):
            changed = any(fact.breaking or fact.kind is FactKind.DEFAULT_CHANGED for fact in facts)
            if changed or self._changes_definitions:
                yield unchanged[0]

    def _is_changed(self, name: str, cited: Sequence[NumberedLine]) -> bool:
        """Return whether a name is gone, or cited lines change what it defines or take it from a line."""
        changed = [each for each in cited if each.sign != " "]
        if any(name in self._lines.scopes(each) for each in changed):
            return True
        word = re.compile(word_pattern(name))
        taken = any(each.sign == "-" and word.search(each.text) for each in changed)
        gone = self._lines.has(name, "-") and not self._lines.has(name, "+ ")
        return gone or (taken and len(changed) == len(cited))

    def _requirements(self, sentence: str) -> Iterator[str]:
        """Yield names that are said to be required and have a default, or to be optional and have none."""
        required = {last_part(fact.name) for fact in self._corpus.facts if fact.kind is FactKind.REQUIRED_PARAMETER}
        for match in say.REQUIRED.finditer(sentence):
            for name in () if NEGATION.search(sentence) else code_names(match["names"]):
                if name not in required and (found := self._defaulted(name)) and all(found):
                    yield name
        for optional in say.OPTIONAL.finditer(sentence):
            for name in code_names(optional["names"] or optional["after"]):
                if name in required or ((found := self._defaulted(name)) and not any(found)):
                    yield name
        for taken in say.TAKES.finditer(sentence):
            shown = self._lines.signature(bare(taken["owner"]))
            clear = shown and not re.search(r"\*\w", shown) and not NEGATION.search(say.phrase_around(sentence, taken))
            yield from (
                name for name in code_names(taken["names"]) if clear and not re.search(word_pattern(name), shown)
            )

    def _defaulted(self, name: str) -> list[bool]:
        """Return for each declaration of a name with its type, after the change, whether it has a default."""
        declared = re.compile(rf"(?<![\w.]){re.escape(name)}\s*:\s*[^=]+(=|\bNone\b|\bOptional\b)?")
        found = (declared.search(each.text) for each in self._lines.having(name, "+ "))
        return [bool(one[1]) for one in found if one]

    def _deprecations(self, sentence: str) -> Iterator[str]:
        """Yield names that are said to be deprecated where no line about deprecations names them, or one names them as what to use."""
        lines = self._lines.all
        notices = [place for place, each in enumerate(lines) if each.sign != "-" and say.NOTICE.search(each.text)]
        near = [lines[place + offset] for place in notices for offset in _BESIDE if 0 <= place + offset < len(lines)]
        by_author = bool(say.NOTICE.search(self._corpus.told))
        for match in say.DEPRECATED.finditer(sentence):
            is_past = not near and say.WAS.search(match[0])
            for name in code_names(match[match.lastgroup or 0]):
                word = word_pattern(name)
                instead = re.compile(
                    rf"(?:use|favou?r of|replaced (?:by|with)|instead of this)\W+(?:the )?(?:\w+\.)*`?{word}",
                    re.IGNORECASE,
                )
                told = any(re.search(word, each.text) and not instead.search(each.text) for each in near)
                author = by_author and re.search(word, self._corpus.told)
                if self._lines.has(name) and not (told or author or is_past):
                    yield name

    def _places(self, sentence: str, cited: Sequence[NumberedLine]) -> Iterator[str]:
        """Yield a class in which something is said to be added, removed or defined, and the cited lines, or the definitions, are elsewhere."""
        for match in say.PLACED.finditer(sentence):
            owner = match["owner"].strip("`").split("(")[0]
            names = [part for part in owner.split(".") if _CLASS.fullmatch(part)]
            phrase = say.phrase_around(sentence, match)
            cited = cited or [each for name in code_names(sentence) for each in self._lines.defining(name, "-+ ")]
            if cited and names and not say.ELSEWHEN.search(phrase) and not NEGATION.search(phrase):
                yield from [owner] if not self._are_in(cited, names[0]) else []

    def _are_in(self, lines: Sequence[NumberedLine], name: str) -> bool:
        """Return whether a line is in a class of this name as far as is known, or a file with such lines names it."""
        known = [around for each in lines if (around := self._lines.scopes(each, "class"))]
        if known and len(known) == len(lines):
            return any(name in around for around in known)
        return any(re.search(word_pattern(name), text) for text in self._lines.files_of(lines))

    def _outcomes(self, sentence: str, cited: Sequence[NumberedLine]) -> Iterator[str]:
        """Yield what is said to be merely logged or passed over where a cited line raises, and errors that no line names."""
        mild = say.MILD.search(sentence)
        if mild and not say.HARSH.search(sentence):
            yield from [mild[0]] if any(each.sign != "-" and _FAILS.match(each.text) for each in cited) else []
        for raised in say.RAISED.finditer(sentence):
            error = raised[raised.lastgroup or 0]
            denied = NEGATION.search(say.phrase_around(sentence, raised))
            if error not in _IMPLICIT and not denied and error not in self._corpus.text:
                yield error

    def _sayings(self, sentence: str) -> Iterator[str]:
        """Yield a danger, a speed or a cause of which neither the author nor a changed line says a word."""
        for said, borne_out in say.SAYINGS:
            match = said.search(sentence)
            if match and not NEGATION.search(say.phrase_around(sentence, match)) and not borne_out.search(self._said):
                yield match[0]
        if say.REASON.search(sentence) or say.BY_AUTHOR.search(sentence):
            told = self._corpus.told if say.BY_AUTHOR.search(sentence) else self._said
            named = ((problem.search(sentence), problem) for problem in say.PROBLEMS)
            yield from (found[0] for found, problem in named if found and not problem.search(told))
        figures = (each[0] for each in say.FIGURE.finditer(sentence))
        yield from (each for each in figures if number(each) not in self._corpus.number_offsets)
        how = SPAN.sub("", sentence)
        if not say.HEDGED.search(how):
            named = ((way.search(how), way) for way in say.MECHANISMS if not NEGATION.search(how))
            yield from (found[0] for found, way in named if found and not way.search(self._corpus.text))
            claimed = (each[0].lower() for each in say.OVERCLAIMED.finditer(how))
            yield from (each for each in claimed if each.split()[0] not in self._corpus.told.lower())

    @cached_property
    def _said(self) -> str:
        """What the author tells, the paths, and the changed lines."""
        changed = (each.text for each in self._lines.all if each.sign != " ")
        return "\n".join([self._corpus.told, *self._corpus.paths, *changed])

    @cached_property
    def _changes_definitions(self) -> bool:
        """Whether a public function or class of the sources is gone or defined otherwise."""
        sources = [each for each in self._lines.all if each.sign != " " and not each.is_test]
        defined = {
            sign: {each.text.strip() for each in sources if each.sign == sign and _DEFINITION.match(each.text)}
            for sign in "-+"
        }
        return bool(defined["-"] - defined["+"])

    def _moved(self, name: str, *, gone: bool) -> bool:
        """Return whether a name leaves a place (or comes to one): where it is only on removed (added) lines, or a rule proved it."""
        facts = self._corpus.facts
        names = (each.name for each in facts if each.removes) if gone else (each.new or "" for each in facts)
        in_facts = name in map(last_part, names)
        balance = self._lines.balance(name)
        leaves = self._lines.leaves(name, gone=gone) and (balance <= 0 if gone else balance >= 0)
        return leaves or in_facts or bool(self._corpus.matching_paths(name))
