"""Proofs that clauses have no model, checked: every step by unit propagation alone (RUP).

A proof is a list of clauses, each of which follows from what stands before it because its negation leads
unit propagation into a conflict (Goldberg and Novikov, "Verification of proofs of unsatisfiability for CNF
formulas", DATE 2003); the last is the empty one. Both files are read without knowledge of who wrote them::

    python -m mmaproof.smt.clause_proofs FILE.cnf FILE.drup
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..spec.errors import InputError, MmaproofError
from ..spec.text_files import read_text

Clause = tuple[int, ...]
"""Literals as in DIMACS: a variable's number, negative for its negation."""


class RejectedProofError(MmaproofError):
    """A step of a proof does not follow, or the proof does not end in the empty clause."""


def check(clauses: Iterable[Clause], steps: Iterable[Clause]) -> int:
    """Check that steps prove clauses to have no model; returns the number of steps that were needed.

    Raises
    ------
    RejectedProofError
        Which names the first step that does not follow.
    """
    known = _Propagation()
    for clause in clauses:
        known.add(clause)
    needed = 0
    for step in steps:
        if known.conflict:
            break
        needed += 1
        if not known.implies(step):
            literals = " ".join(map(str, step))
            raise RejectedProofError(f"step {needed} of the proof does not follow: {literals} 0")
        known.add(step)
    if not known.conflict:
        raise RejectedProofError("the proof does not end in the empty clause")
    return needed


class _Propagation:
    """Clauses, what they settle alone, and two watched literals of each of the others."""

    def __init__(self) -> None:
        self.conflict = False
        self._true: dict[int, bool] = {}
        self._order: list[int] = []
        self._done = 0
        self._watching: dict[int, list[list[int]]] = {}

    def add(self, clause: Clause) -> None:
        """Add a clause, and propagate what follows from it for good."""
        literals = list(dict.fromkeys(clause))
        if any(-literal in literals for literal in literals):
            return  # it is always true
        free = [literal for literal in literals if literal not in self._true]
        if any(self._true.get(literal) for literal in literals):
            return  # what is settled for good stays so
        if len(free) > 1:
            self._watch(free)
        elif not free or not self._settle(free[0]) or not self._propagated():
            self.conflict = True

    def implies(self, clause: Clause) -> bool:
        """Tell whether the clause's negation leads to a conflict; leaves no trace."""
        start = len(self._order)
        assert self._done == start
        consistent = all(self._settle(-literal) for literal in clause) and self._propagated()
        for literal in self._order[start:]:
            del self._true[literal], self._true[-literal]
        del self._order[start:]
        self._done = start
        return not consistent

    def _watch(self, literals: list[int]) -> None:
        for literal in literals[:2]:
            self._watching.setdefault(literal, []).append(literals)

    def _settle(self, literal: int) -> bool:
        """Make a literal true; False if it is false."""
        if (known := self._true.get(literal)) is not None:
            return known
        self._true[literal], self._true[-literal] = True, False
        self._order.append(literal)
        return True

    def _propagated(self) -> bool:
        """Propagate what is settled; False at a conflict."""
        true = self._true
        while self._done < len(self._order):
            false = -self._order[self._done]
            self._done += 1
            watching, kept = self._watching.get(false, []), []
            for position, clause in enumerate(watching):
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                if true.get(clause[0]):
                    kept.append(clause)
                    continue
                for place in range(2, len(clause)):
                    if true.get(clause[place]) is not False:
                        clause[1], clause[place] = clause[place], false
                        self._watching.setdefault(clause[1], []).append(clause)
                        break
                else:
                    kept.append(clause)
                    if not self._settle(clause[0]):
                        self._watching[false] = kept + watching[position + 1 :]
                        return False
            if watching:
                self._watching[false] = kept
        return True


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
        formula, proof = (read_text(Path(each)) for each in arguments)
        needed = check(read_clauses(formula, arguments[0]), read_steps(proof, arguments[1]))
    except RejectedProofError as reason:
        print(reason)
        return 1
    except InputError as reason:
        print(reason, file=sys.stderr)
        return 2
    print(f"the clauses have no model: proved in {needed} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
