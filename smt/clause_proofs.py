"""Proofs that clauses have no model, checked: every step by unit propagation alone (RUP).

A proof is a list of clauses, each of which follows from what stands before it because its negation leads
unit propagation into a conflict (Goldberg and Novikov, "Verification of proofs of unsatisfiability for CNF
formulas", DATE 2003); the last is the empty one. Both files are read without knowledge of who wrote them::

    python -m mmaproof.smt.clause_proofs FILE.cnf FILE.drup
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..spec.errors import InputError, MmaproofError
from ..spec.text_files import read_text

Clause = tuple[int, ...]
"""Literals as in DIMACS: a variable's number, negative for its negation."""


class RejectedProofError(MmaproofError):
    """A step of a proof does not follow, or the proof does not end in the empty clause."""


@dataclass(frozen=True)
class Refutation:
    """What a proof takes: the clauses and steps that conflicts were found in, in their order.

    Attributes
    ----------
    clauses, steps : tuple of Clause
        Of those given; the last step is the empty clause.
    reasons : tuple of tuple of Clause
        For each step, clauses and earlier steps that its negation contradicts.
    """

    clauses: tuple[Clause, ...]
    steps: tuple[Clause, ...]
    reasons: tuple[tuple[Clause, ...], ...]

    def formula(self) -> str:
        """Return the clauses as a DIMACS file."""
        variables = max((abs(literal) for clause in self.clauses for literal in clause), default=0)
        return f"p cnf {variables} {len(self.clauses)}\n{_lines(self.clauses)}"

    def proof(self) -> str:
        """Return the steps as a DRUP file."""
        return _lines(self.steps)


def check(clauses: Iterable[Clause], steps: Iterable[Clause]) -> Refutation:
    """Check that steps prove clauses to have no model; returns what was needed of both.

    Raises
    ------
    RejectedProofError
        Which names the first step that does not follow.
    """
    known = _Propagation()
    for clause in clauses:
        known.add(clause)
    given = len(known.clauses)
    from_which: list[list[int]] = []
    for step in steps:
        if known.conflict is not None:
            break
        needed = known.implies(step)
        if needed is None:
            line = _lines([step]).rstrip()
            raise RejectedProofError(f"step {len(from_which) + 1} of the proof does not follow: {line}")
        from_which.append(needed)
        known.add(step)
    if known.conflict is None:
        raise RejectedProofError("the proof does not end in the empty clause")
    reasons = {len(known.clauses): known.conflict}
    used = set(known.conflict)
    for number in reversed(range(given, len(known.clauses))):
        if number in used:
            reasons[number] = from_which[number - given]
            used.update(reasons[number])
    every = (*known.clauses, ())
    return Refutation(
        clauses=tuple(every[number] for number in sorted(used) if number < given),
        steps=tuple(every[number] for number in sorted(reasons)),
        reasons=tuple(tuple(every[reason] for reason in reasons[number]) for number in sorted(reasons)),
    )


class _Propagation:
    """Clauses, what they settle alone, and two watched literals of each of the others.

    Attributes
    ----------
    clauses : list of Clause
        All that were added.
    conflict : list of int or None
        Numbers of clauses that contradict each other, if any do by propagation alone.
    """

    def __init__(self) -> None:
        self.clauses: list[Clause] = []
        self.conflict: list[int] | None = None
        self._true: dict[int, bool] = {}
        self._order: list[int] = []
        self._done = 0
        self._from: dict[int, int] = {}
        self._watching: dict[int, list[tuple[int, list[int]]]] = {}

    def add(self, clause: Clause) -> None:
        """Add a clause, and propagate what follows from it for good."""
        number = len(self.clauses)
        self.clauses.append(clause)
        literals = list(dict.fromkeys(clause))
        if any(-literal in literals for literal in literals):
            return  # it is always true
        free = [literal for literal in literals if literal not in self._true]
        if any(self._true.get(literal) for literal in literals):
            return  # what is settled for good stays so
        if len(free) > 1:
            self._watch(number, free)
            return
        if not free:
            false: int | None = number
        else:
            self._settle(free[0], number)
            false = self._propagated()
        if false is not None:
            self.conflict = self._behind(false)

    def implies(self, clause: Clause) -> list[int] | None:
        """Return clauses that the clause's negation contradicts, None if it need not; leaves no trace."""
        start = len(self._order)
        assert self._done == start
        needed = self._contradicted(clause)
        for literal in self._order[start:]:
            del self._true[literal], self._true[-literal]
            self._from.pop(literal, None)
        del self._order[start:]
        self._done = start
        return needed

    def _contradicted(self, clause: Clause) -> list[int] | None:
        for literal in clause:
            if not self._settle(-literal):
                why = self._from.get(literal)
                return [] if why is None else self._behind(why)  # else the clause is always true
        false = self._propagated()
        return None if false is None else self._behind(false)

    def _behind(self, number: int) -> list[int]:
        """Return a clause, and those that made its literals what they are."""
        found = {number: None}
        waiting = [number]
        while waiting:
            for literal in self.clauses[waiting.pop()]:
                why = self._from.get(-literal)
                if why is not None and why not in found:
                    found[why] = None
                    waiting.append(why)
        return list(found)

    def _watch(self, number: int, literals: list[int]) -> None:
        for literal in literals[:2]:
            self._watching.setdefault(literal, []).append((number, literals))

    def _settle(self, literal: int, number: int | None = None) -> bool:
        """Make a literal true, because of a clause; False if it is false."""
        if (known := self._true.get(literal)) is not None:
            return known
        self._true[literal], self._true[-literal] = True, False
        self._order.append(literal)
        if number is not None:
            self._from[literal] = number
        return True

    def _propagated(self) -> int | None:
        """Propagate what is settled; returns the number of a clause that became false, if one did."""
        true = self._true
        while self._done < len(self._order):
            false = -self._order[self._done]
            self._done += 1
            watching, kept = self._watching.get(false, []), []
            for position, watched in enumerate(watching):
                number, clause = watched
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                if true.get(clause[0]):
                    kept.append(watched)
                    continue
                for place in range(2, len(clause)):
                    if true.get(clause[place]) is not False:
                        clause[1], clause[place] = clause[place], false
                        self._watching.setdefault(clause[1], []).append(watched)
                        break
                else:
                    kept.append(watched)
                    if not self._settle(clause[0], number):
                        self._watching[false] = kept + watching[position + 1 :]
                        return number
            if watching:
                self._watching[false] = kept
        return None


def read_clauses(text: str, where: str) -> Iterator[Clause]:
    """Yield the clauses of a DIMACS file, as many as its header says.

    Raises
    ------
    InputError
        If the file is malformed.
    """
    announced, count = None, 0
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0] == "c":
            continue
        if fields[0] == "p" and announced is None and len(fields) == 4 and fields[3].isdigit():
            announced = int(fields[3])
            continue
        if announced is None:
            raise InputError('a line "p cnf VARIABLES CLAUSES" must come first', f"{where}:{number}")
        count += 1
        yield _literals(fields, f"{where}:{number}")
    if count != announced:
        raise InputError(f"it has {count} clauses, not the {announced} that it announces", where)


def read_steps(text: str, where: str) -> Iterator[Clause]:
    """Yield the clauses that a DRUP file adds; what it deletes may stay, since it remains true.

    Raises
    ------
    InputError
        If the file is malformed.
    """
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if fields and fields[0] not in ("c", "d"):
            yield _literals(fields, f"{where}:{number}")


def _lines(clauses: Iterable[Clause]) -> str:
    return "".join(" ".join(map(str, (*clause, 0))) + "\n" for clause in clauses)


def _literals(fields: Sequence[str], where: str) -> Clause:
    try:
        *literals, end = map(int, fields)
    except ValueError:
        raise InputError(f"{' '.join(fields)!r} must be literals and 0", where) from None
    if end != 0 or 0 in literals:
        raise InputError(f"{' '.join(fields)!r} must end in its only 0", where)
    return tuple(literals)


def main(arguments: Sequence[str]) -> int:
    """Check a DRUP file against a DIMACS file; exit status 0 if it is a proof, 1 if not, 2 for bad files."""
    if len(arguments) != 2:
        print("usage: python -m mmaproof.smt.clause_proofs FILE.cnf FILE.drup", file=sys.stderr)
        return 2
    try:
        formula, proof = (read_text(Path(argument)) for argument in arguments)
        found = check(read_clauses(formula, arguments[0]), read_steps(proof, arguments[1]))
    except RejectedProofError as reason:
        print(reason)
        return 1
    except InputError as reason:
        print(reason, file=sys.stderr)
        return 2
    print(f"the clauses have no model: proved from {len(found.clauses)} of them in {len(found.steps)} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
