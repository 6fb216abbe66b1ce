"""Whether a row says what the spec says.

A row makes one claim for each value that it lists, each instruction that its patterns match, and each
target and version it names. What it leaves out it does not speak of: it calls an instruction legal if one
with the stated columns is, and illegal if none is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ..spec.errors import InputError, UnsupportedError
from ..spec.findings import Cause, Finding, Position, Standing
from ..spec.instruction_set import Instruction, InstructionSet
from . import table_rules
from .columns import INSTRUCTION, is_pattern
from .matching import combinations, index
from .rows import Row, RowStatement
from .vocabulary import Cells, Point, Vocabulary

_SHOWN = 4
"""How many places of a row's disagreement are listed."""


@dataclass(frozen=True)
class SpecAnswer:
    """What the spec says about an instruction on a target.

    Attributes
    ----------
    legal : bool, optional
        None where it can't be decided.
    causes : tuple of Cause
        Why not.
    """

    legal: bool | None
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True)
class JudgedPlace:
    """Where an instruction is judged.

    Attributes
    ----------
    target : str, optional
        None: somewhere.
    version : str, optional
        PTX version.
    """

    target: str | None
    version: str | None

    def __str__(self) -> str:
        where = self.target or "any target"
        return f"{where}, PTX {self.version}" if self.version else where


@lru_cache(maxsize=1 << 16)
def _read(isa: InstructionSet, text: str) -> Instruction:
    return isa.read(text)


@lru_cache(maxsize=1 << 20)
def answer(words: Vocabulary, text: str, target: str, version: str | None) -> SpecAnswer:
    """Judge one instruction."""
    try:
        judged = _read(words.isa, text).legal(target, version)
    except UnsupportedError as reason:
        return SpecAnswer(None, (table_rules.UNDECIDED.saying(str(reason)),))
    except InputError as reason:
        return SpecAnswer(False, (table_rules.SYNTAX.saying(str(reason)),))
    if judged.violations:
        causes = (
            Cause(words.isa.name, v.rule.id, v.rule.reason, v.rule.source, v.message)
            for v in judged.violations
        )
        return SpecAnswer(False, tuple(causes))
    if judged.undecided:
        return SpecAnswer(None, (table_rules.UNDECIDED.saying("; ".join(map(str, judged.undecided))),))
    return SpecAnswer(True)


@dataclass(frozen=True)
class JudgedPlaces:
    """Where a row's claims hold.

    Attributes
    ----------
    known : tuple of JudgedPlace
        Where they can be judged; patterns leave out versions that do not have a target.
    unknown : tuple of str
        What is not known of the other targets and versions that the row names.
    """

    known: tuple[JudgedPlace, ...]
    unknown: tuple[str, ...]


def places(row: Row) -> JudgedPlaces:
    """Return where a row's claims hold.

    Raises
    ------
    InputError
        If a version is none.
    """
    return _places(row.statement.vocabulary, row.target, row.ptx)


@lru_cache(maxsize=4096)
def _places(words: Vocabulary, target: tuple[str, ...], ptx: tuple[str, ...]) -> JudgedPlaces:
    unknown: list[str] = []
    targets = _named(words.targets, target, unknown) if target else [None]
    versions = _named(words.versions, ptx or ("",), unknown)
    found = [JudgedPlace(name, version) for name in targets for version in versions]
    existing = [p for p in found if p.target is None or words.knows(p.target, p.version)]
    return JudgedPlaces(tuple((len(found) > 1 and existing) or found), tuple(unknown))


def _named(
    names_of: Callable[[str], Sequence[str | None]], cell: tuple[str, ...], unknown: list[str]
) -> list[str | None]:
    """Return what the values of a cell name; say what is not known of the others."""
    found: list[str | None] = []
    for value in cell:
        try:
            found += names_of(value)
        except UnsupportedError as reason:
            unknown.append(str(reason))
    return found


_COMPARED = 256
"""How many claims of one row are held against those of other rows."""


def claim_keys(row: Row) -> list[tuple[object, ...]]:
    """Return what a row's claims are about; rows that share a key say the same, or contradict each other.

    Of a row with very many claims, one key for all.

    Raises
    ------
    InputError
        If a version is none.
    """
    found = places(row)
    where: Sequence[object] = [(row.target, row.ptx)] if found.unknown else found.known
    stated = _stated(row.statement)
    if len(where) * len(stated) > _COMPARED:
        return [(row.statement.vocabulary.isa.name, tuple(row.statement.cells.items()), row.target, row.ptx)]
    return [(_about(row.statement, what, place), place) for what in stated for place in where]


def _about(statement: RowStatement, what: object, place: object) -> object:
    """Return what a claim is about at a place: its form, or a text that is another spelling of it there."""
    text, words = statement.text, statement.vocabulary
    if text is None:
        return what
    is_form = text in words.by_text
    if is_form and isinstance(place, JudgedPlace) and place.target is not None:
        is_form = words.as_of(text, place.target, place.version) == text
    return what if is_form else (words.isa.name, text)


@lru_cache(maxsize=1 << 17)
def _stated(statement: RowStatement) -> list[object]:
    words = statement.vocabulary
    if statement.text is None:
        completed = map(words.completed, combinations(statement.cells))
        return [(words.isa.name, frozenset(cells.items())) for cells in completed]
    bare = not any(map(str.isspace, statement.text))  # an instruction without operands
    cells = words.read(statement.text) if bare else None
    return [(words.isa.name, frozenset(cells.items()) if cells else statement.text)]


def judge_row(row: Row, file: str) -> Finding | None:
    """Compare a row with the spec.

    Raises
    ------
    InputError
        If it can't be read.
    """
    where = places(row)
    wrong: list[tuple[str, tuple[Cause, ...]]] = []
    unknown = list(where.unknown)
    for claim in _claims(row.statement):
        for place in where.known:
            found, text, there = claim.answer(place)
            if found.legal is None:
                unknown.append(found.causes[0].message)
            elif found.legal != row.legal:
                why = (_allowed(claim.words, text, there),) if found.legal else found.causes
                wrong.append((f"{claim.about}{there}", why))
    if wrong:
        causes: dict[str, Cause] = {}
        for cause in (cause for _, why in wrong for cause in why):
            causes.setdefault(cause.id, cause)
        says = _spec_says(row, [where for where, _ in wrong])
        return Finding(Standing.DRIFT, file, row.at, row.subject, tuple(causes.values()), row.verdict, says)
    if unknown:
        because = "; ".join(dict.fromkeys(unknown))
        return undecided(file, row.at, row.subject, row.verdict, because)
    return None


def undecided(file: str, at: Position, subject: str, they_say: str, because: str) -> Finding:
    """Return the finding about a row that the spec does not decide."""
    cause = table_rules.UNDECIDED.saying(because)
    return Finding(Standing.UNDECIDED, file, at, subject, (cause,), they_say, "nothing")


def _spec_says(row: Row, listed: Sequence[str]) -> str:
    verdict = "illegal" if row.legal else "legal"
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return f"{verdict} on {'; '.join(listed[:_SHOWN])}{more}"


@dataclass(frozen=True)
class _Claim:
    """One claim of a row: that an instruction among some is legal, or none.

    Attributes
    ----------
    words : Vocabulary
        Of the instruction set.
    about : str
        What tells it from the row's other claims.
    texts : tuple of str
        The instructions.
    as_written : bool
        Whether they are the table's own text.
    """

    words: Vocabulary
    about: str
    texts: tuple[str, ...]
    as_written: bool = False

    def answer(self, place: JudgedPlace) -> tuple[SpecAnswer, str, JudgedPlace]:
        """Return what the spec says, of which text and where; a legal instruction outweighs the others."""
        targets = (place.target,) if place.target else _newest_first(self.words)
        best: SpecAnswer | None = None
        for each in self.texts:
            for target in targets:
                text = each if self.as_written else self.words.as_of(each, target, place.version)
                found = answer(self.words, text, target, place.version)
                if found.legal:
                    return found, text, JudgedPlace(target, place.version)
                if best is None or _tells_more(found, best):
                    best = found
        return best or _NO_FORM, "", place


_NO_FORM = SpecAnswer(False, (table_rules.NO_FORM.saying("no instruction has what the row states"),))


def _newest_first(words: Vocabulary) -> tuple[str, ...]:
    newest = words.isa.default_target
    return (newest, *(name for name in words.isa.targets if name != newest))


@lru_cache(maxsize=1 << 16)
def _allowed(words: Vocabulary, text: str, place: JudgedPlace) -> Cause:
    """Return why an instruction is legal: where the ISA has it."""
    cells = words.read(text)
    known = index(words)
    source = next((point.source for point in known.listed(known.matching(cells))), "") if cells else ""
    return replace(
        table_rules.ALLOWED.saying(f"{text} is legal on {place.target}"),
        source=source or table_rules.ALLOWED.source,
    )


def _tells_more(found: SpecAnswer, other: SpecAnswer) -> bool:
    """Whether an answer outweighs another: an open one a no; a no with fewer reasons is nearer to the row."""
    if (found.legal is None) != (other.legal is None):
        return found.legal is None
    return len(found.causes) < len(other.causes)


@lru_cache(maxsize=1 << 17)
def _claims(statement: RowStatement) -> list[_Claim]:
    words = statement.vocabulary
    if statement.text is not None:
        return [_Claim(words, "", (statement.text,), as_written=True)]
    found = []
    for cells in combinations(statement.cells):
        for named, texts in _candidates(words, cells):
            differing = (c for c, v in named.items() if statement.cells.get(c, (v,)) != (v,))
            shown = " ".join(f"{column}={named[column]}" for column in differing)
            as_written = cells.get(INSTRUCTION) in texts
            found.append(_Claim(words, f"{shown} on " if shown else "", texts, as_written))
    return found


def _candidates(words: Vocabulary, stated: Cells) -> list[tuple[Cells, tuple[str, ...]]]:
    """Return the instructions that cells are about, as text, for each way to resolve the patterns."""
    cells = words.completed(stated)
    known = index(words)
    if groups := known.groups(cells):
        free = {column: value for column, value in cells.items() if not known.has(column)}
        return [(named, tuple(_text(words, point, free) for point in found)) for named, found in groups]
    stated = {column: value for column, value in cells.items() if not is_pattern(value)}
    spelled = words.spell(stated)
    if spelled is None or _says_otherwise(words.read(spelled), stated):
        return [(cells, ())]
    return [(cells, (spelled,))]


def _says_otherwise(read: Cells | None, stated: Cells) -> bool:
    """Whether a legal instruction leaves out what cells state, because there is no way to spell it."""
    return read is not None and any(read.get(column) != value for column, value in stated.items())


def _text(words: Vocabulary, point: Point, free: Cells) -> str:
    return (words.spell({**point.cells, **free}) or point.text) if free else point.text
