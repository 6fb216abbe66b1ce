"""Counterexample files, executed again with numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..spec.errors import InputError, MmaproofError
from ..spec.json_text import read_json
from ..spec.text_files import read_text
from .catalogue import obligations
from .instances import Entailment
from .obligation import (
    Certificate,
    Deduction,
    Obligation,
    Property,
    RealProperty,
    RefutableProperty,
    RingProperty,
)
from .replay import SCHEMA, Counterexample, Difference, counterexample, difference_on, read_inputs
from .verdict import Verdict


@dataclass(frozen=True)
class Reexecution:
    """What came out of executing a counterexample again.

    Attributes
    ----------
    obligation : Obligation
        What it is about.
    found : Counterexample
        The inputs, with the difference that was computed now.
    recorded : Difference or None
        The difference in the file.
    """

    obligation: Obligation
    found: Counterexample
    recorded: Difference | None

    @property
    def confirms_record(self) -> bool:
        """Whether what was computed now is what the file says."""
        return self.recorded == self.found.difference


def reexecute(path: Path) -> Reexecution:
    """Execute the counterexample in a file again.

    Raises
    ------
    InputError
        If the file can't be read, is not a counterexample, or its obligation is unknown.
    """
    where = str(path)
    document = _read(path, where)
    identifier = document.get("obligation")
    obligation = obligations().get(identifier) if isinstance(identifier, str) else None
    if obligation is None:
        raise InputError(f"no obligation {identifier!r}; `mmaproof list` prints them all", where)
    return Reexecution(obligation, _execute(obligation, document, where), _recorded(document, where))


def refutes_again(obligation: Obligation, verdict: Verdict) -> bool:
    """Execute the counterexample of a refutation that was remembered; tells whether it still is one."""
    remembered = verdict.counterexample
    if remembered is None or remembered.obligation != obligation.id:
        return False
    document = {"inputs": remembered.inputs}
    try:
        goal = obligation.goal()
        if isinstance(goal, Property):
            found = difference_on(goal, read_inputs(document, goal, obligation.id), obligation.equality)
        else:
            found = _execute(obligation, document, obligation.id).difference
    except MmaproofError:
        return False
    return found is not None and found == remembered.difference


def _read(path: Path, where: str) -> dict[str, Any]:
    document = read_json(read_text(path), where)
    if not isinstance(document, dict) or document.get("kind") != "obligation":
        raise InputError('not a counterexample: it has no "kind": "obligation"', where)
    if document.get("schema") != SCHEMA:
        raise InputError(f"schema must be {SCHEMA}, not {document.get('schema')!r}", where)
    return document


def _execute(obligation: Obligation, document: dict[str, Any], where: str) -> Counterexample:
    goal = obligation.goal()
    if isinstance(goal, Certificate):
        if goal.witness is None or not document.get("inputs"):
            wrong = goal.check()
            return Counterexample(obligation.id, {}, None if wrong is None else Difference(wrong, (), "", ""))
        goal = goal.witness
    if isinstance(goal, Entailment):
        goal = goal.conclusion
    match goal:
        case Property():
            encodings = read_inputs(document, goal, where)
            return counterexample(obligation.id, goal, encodings, obligation.equality)
        case RingProperty():
            from .ring_claims import difference_at, read_numbers

            inputs = document.get("inputs") or {}
            numbers = read_numbers(inputs, goal, where)
            return Counterexample(obligation.id, inputs, difference_at(goal, numbers, obligation.equality))
        case RefutableProperty():
            from .real_claims import counterexample_of

            found = counterexample_of(obligation, goal)
            return found or Counterexample(obligation.id, {}, None)
        case RealProperty():
            raise InputError(
                f"{obligation.id} is about real numbers, which no file of encodings holds", where
            )
        case Deduction():
            raise InputError(
                f"{obligation.id} follows from others: its premises have the counterexamples", where
            )


def _recorded(document: dict[str, Any], where: str) -> Difference | None:
    recorded = document.get("difference")
    if recorded is None:
        return None
    try:
        index = tuple(int(i) for i in recorded["index"])
        label, left, right = (str(recorded[key]) for key in ("label", "left", "right"))
        return Difference(label, index, left, right)
    except (TypeError, KeyError, ValueError):
        raise InputError('"difference" must have "label", "index", "left" and "right"', where) from None
