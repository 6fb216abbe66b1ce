"""Legality as data: rules with reasons and sources, what violates them, and where documents disagree.

Independent of the instruction set: a rule is generic in what it judges (an instruction or a variant) and
in the target it is judged for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

Subject = TypeVar("Subject")
Target = TypeVar("Target")


@dataclass(frozen=True)
class Contradiction:
    """A point on which documents or tools contradict each other.

    Attributes
    ----------
    id : str
        Stable name.
    claims : tuple of (who, what)
        The contradicting statements.
    side : str
        What mmaproof does.
    source : str
        How the claims are known, and what decides.
    """

    id: str
    claims: tuple[tuple[str, str], ...]
    side: str
    source: str


@dataclass(frozen=True)
class Rule(Generic[Subject, Target]):
    """A condition that every legal instruction meets.

    Attributes
    ----------
    id : str
        Stable name.
    reason : str
        The condition, in one line.
    source : str
        Where it is stated, or how it was found.
    check : callable (subject, target) -> iterable of str
        Yields one message, with the offending values, for each way the condition is not met.
    contradictions : tuple of Contradiction
        Who disagrees with the rule.
    """

    id: str
    reason: str
    source: str
    check: Callable[[Subject, Target], Iterable[str]]
    contradictions: tuple[Contradiction, ...] = ()


@dataclass(frozen=True)
class Violation:
    """A rule that is not met.

    Attributes
    ----------
    rule : Rule
        The rule.
    message : str
        What is wrong, with the offending values.
    """

    rule: Rule[Any, Any]
    message: str

    def __str__(self) -> str:
        return f"{self.rule.id}: {self.message}"


class NoteKind(Enum):
    """What a note says."""

    FILLED_IN = "what the text leaves out, or is replaced in it"
    OBJECTION = "who else objects"
    UNDECIDED = "what can't be decided"
    NOT_JUDGED = "what no rule looks at"
    SCOPE = "what is judged"


@dataclass(frozen=True)
class Note:
    """What there is to know of a judgement besides the violations.

    Attributes
    ----------
    kind : NoteKind
        What it says.
    text : str
        In words.
    where : str
        In front of it: which statement is meant, of a text with some.
    """

    kind: NoteKind
    text: str
    where: str = ""

    def __str__(self) -> str:
        undecided = "undecided: " * (self.kind in (NoteKind.UNDECIDED, NoteKind.NOT_JUDGED))
        return f"{self.where}{undecided}{self.text}"


_SHOWN = 8
"""Lines that a note lists."""


def listed_lines(lines: Sequence[int]) -> str:
    """Name lines of a text, as notes begin with them."""
    shown = ", ".join(map(str, lines[:_SHOWN]))
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"


def violations(rules: Iterable[Rule[Subject, Target]], subject: Subject, target: Target) -> list[Violation]:
    """Return every violation of every rule; an empty list means legal."""
    return [Violation(rule, message) for rule in rules for message in rule.check(subject, target)]
