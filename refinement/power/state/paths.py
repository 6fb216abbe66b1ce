"""Path conditions: outcomes of the branches on a path, and what distinguishes two paths."""

from __future__ import annotations

from typing import NamedTuple

from ...terms.truth_tables import A, B
from .words import Word, WordArithmetic

Path = frozenset[int]
"""Numbers of steps, of which one has been made."""


class _Step(NamedTuple):
    """An outcome of a branch.

    Attributes
    ----------
    before : Path
        What has been gone before.
    condition : int
        A term of one bit.
    holds : bool
        Whether it does.
    """

    before: Path
    condition: int
    holds: bool


class Paths:
    """The paths from one branch.

    Parameters
    ----------
    words : WordArithmetic
        Where terms are made.
    """

    always: Path = frozenset((-1,))
    """The path to the branch."""

    def __init__(self, words: WordArithmetic) -> None:
        self._words = words
        self._steps: list[_Step] = []
        self._numbers: dict[_Step, int] = {}
        self._conditions: dict[Path, Word] = {self.always: 1}
        self._outcomes: dict[int, dict[int, bool]] = {-1: {}}

    def narrowed(self, path: Path, condition: int, *, holds: bool) -> Path:
        """Return a path with an outcome of a branch besides; nothing where it had the other before."""
        known = {step: self._outcomes[step].get(condition) for step in path}
        undecided = frozenset(step for step, outcome in known.items() if outcome is None)
        found = {step for step, outcome in known.items() if outcome is holds}
        if undecided:
            found.add(self._number(_Step(undecided, condition, holds)))
        return frozenset(found)

    def _number(self, step: _Step) -> int:
        if step not in self._numbers:
            number = self._numbers[step] = len(self._steps)
            self._steps.append(step)
            first, *others = (self._outcomes[each] for each in step.before)
            shared = {
                condition: holds
                for condition, holds in first.items()
                if all(other.get(condition) is holds for other in others)
            }
            self._outcomes[number] = {**shared, step.condition: step.holds}
        return self._numbers[step]

    def joined(self, one: Path, other: Path) -> Path:
        """Return the path of what goes one of two ways; two outcomes of one branch are none."""
        found = set(one | other)
        pending = list(found)
        while pending:
            number = pending.pop()
            if number < 0 or number not in found:
                continue
            step = self._steps[number]
            opposite = self._numbers.get(step._replace(holds=not step.holds))
            if opposite in found:
                found -= {number, opposite}
                pending += step.before - found
                found |= step.before
        return frozenset(found)

    def condition(self, path: Path) -> Word:
        """Return the condition under which a path is gone."""
        if path not in self._conditions:
            found: Word = 0
            for number in sorted(path):
                step = self._steps[number]
                before = self.condition(step.before)
                found = self._either(found, self._and(before, step.condition, holds=step.holds))
            self._conditions[path] = found
        return self._conditions[path]

    def telling_apart(self, one: Path, other: Path) -> tuple[Word, bool]:
        """Return a condition that holds on one of two paths alone, and whether on the first."""
        for this, rest, is_first in ((one, other, True), (other, one, False)):
            if len(this) == 1 and (outcomes := self._excluding(min(this), rest)):
                found: Word = 1
                for condition, holds in outcomes:
                    found = self._and(found, condition, holds=holds)
                return found, is_first
        return self.condition(one), True

    def _excluding(self, step: int, path: Path) -> list[tuple[int, bool]]:
        """Return outcomes that a step needs, of which each part of a path has one otherwise; or nothing."""
        left, needed = set(path), []
        for condition, holds in self._outcomes[step].items():
            excluded = {each for each in left if self._outcomes[each].get(condition) is (not holds)}
            if excluded:
                needed.append((condition, holds))
            left -= excluded
        return [] if left else needed

    def _and(self, before: Word, condition: int, *, holds: bool) -> Word:
        table = A & (B if holds else ~B)
        return self._words.combined(table, before, self._words.word(condition), 1)

    def _either(self, one: Word, other: Word) -> Word:
        return self._words.combined(A | B, one, other, 1)
