"""The section of a certificate: what is equal at one set of sizes, with the steps that show it.

Terms of the store are rows of it, each after its arguments; see `refinement.recheck.document`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FORMATS, FloatFormat, Format
from ..recheck.document import LEAVES, MALFORMED, RefusedError, section
from ..recheck.rechecking import supposed_by
from ..terms.interning import Ids
from ..terms.store import CONSTANT, NORMAL_FORM, VECTOR, Operation, TermStore
from .derivation import Derivation, literals_of

NO_STEPS = "by a method that certificates have no steps for yet"
"""Why an equality is not stated."""


class ShownOutput(NamedTuple):
    """Elements of an output that are shown to be equal to the expected ones.

    Attributes
    ----------
    name : str
        The output.
    format : Format
        That of its elements.
    relation : str
        How they are equal, where they are not the identical term: ``ring`` or ``reals``.
    elements : array (n,)
        Linear indices.
    actual, expected : array (n,)
        Terms.
    reordered : bool
        Whether the identical term is no more than equal over the reals: the order of its sums is open.
    """

    name: str
    format: Format
    relation: str
    elements: NDArray[np.intp]
    actual: Ids
    expected: Ids
    reordered: bool


def section_of(
    store: TermStore, title: str, outputs: Sequence[ShownOutput], reasons: Sequence[str]
) -> dict[str, Any]:
    """Return the section of a document, in the least of several ways that shows all, or else most.

    Parameters
    ----------
    store : TermStore
        The terms.
    title : str
        The sizes, and the case of scalars.
    outputs : sequence of ShownOutput
        What is shown.
    reasons : sequence of str
        What else the verdict rests on, that no equation of terms says.
    """
    rows = TermRows(
        store, (int(t) for output in outputs for side in (output.actual, output.expected) for t in side)
    )
    equations = [one for output in outputs for one in _equations(output, rows)]
    written: dict[str, Any] = {
        "title": title, "operations": rows.operations, "terms": rows.rows, "literals": [], "steps": [],
        "equations": equations, "supposed": [], "open": list(reasons),
    }  # fmt: skip
    ways: list[tuple[int, dict[str, Any], list[list[int]]]] = []
    for powers, literals in ((False, False), (True, False), (True, True)):
        found, failing = _derived(written, powers=powers, literals=literals)
        ways.append((sum(map(len, failing)), found, failing))
        if not ways[-1][0]:
            break
    _, found, failing = min(ways, key=lambda way: way[0])
    return _without(found, failing)


def _equations(output: ShownOutput, rows: TermRows) -> list[dict[str, Any]]:
    same = (output.actual == output.expected) & ~np.bool_(output.reordered)
    sides = output.elements, output.actual, output.expected
    found = []
    for relation, members in (("identical", same), (output.relation, ~same)):
        triples = zip(*(side[members].tolist() for side in sides), strict=True)
        elements = [[place, rows.place(actual), rows.place(expected)] for place, actual, expected in triples]
        if elements:
            found.append(
                {"output": output.name, "format": output.format.name, "relation": relation,
                 "elements": elements}
            )  # fmt: skip
    return found


def _derived(
    written: Mapping[str, Any], *, powers: bool, literals: bool
) -> tuple[dict[str, Any], list[list[int]]]:
    """Return a section with steps, and of each equation the places of elements that are not shown equal."""
    read = section(written)
    if literals:
        read = read._replace(literals=literals_of(read))
    derivation = Derivation(read, powers=powers)
    try:
        derivation.run()
    except (RefusedError, RecursionError, *MALFORMED):
        return dict(written), [list(range(len(equation.elements))) for equation in read.equations]
    read = read._replace(steps=derivation.steps)
    failing = [
        [
            place
            for place, (_, actual, expected) in enumerate(equation.elements)
            if not derivation.holds(equation.relation, actual, expected, equation.format)
        ]
        for equation in read.equations
    ]
    steps = [
        {"before": step.before, "rows": list(step.rows), "variables": dict(step.variables)}
        for step in derivation.steps
    ]
    of_literals = [[word, fmt.name, *stands] for (word, fmt), stands in read.literals.items()]
    return {**written, "steps": steps, "literals": of_literals, "supposed": supposed_by(read)}, failing


def _without(written: dict[str, Any], failing: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return a section without the elements that are not shown equal, which it says are open."""
    equations, reasons = [], list(written["open"])
    for equation, places in zip(written["equations"], failing, strict=True):
        if places:
            left_out = set(places)
            kept = [each for place, each in enumerate(equation["elements"]) if place not in left_out]
            equation = {**equation, "elements": kept}  # noqa: PLW2901
            reasons.append(f"{len(places):,} elements of {equation['output']}, equal {NO_STEPS}")
        if equation["elements"]:
            equations.append(equation)
    return {**written, "equations": equations, "open": reasons}


class TermRows:
    """The terms that some terms of a store consist of, numbered again.

    Parameters
    ----------
    store : TermStore
        The terms.
    roots : iterable of int
        What is to be in the document.

    Attributes
    ----------
    operations, rows : list
        The parts of the document.
    """

    def __init__(self, store: TermStore, roots: Iterable[int]) -> None:
        self._store = store
        self.operations: list[list[Any]] = []
        self.rows: list[list[int]] = []
        self._of_operations: dict[int, int] = {}
        arguments = self._within(roots)
        self._places = {term: place for place, term in enumerate(sorted(arguments))}
        for term in self._places:
            is_leaf = self._store.operation(term).name in LEAVES
            given = arguments[term] if is_leaf else [self._places[argument] for argument in arguments[term]]
            self.rows.append([self._operation(term), *given])

    def place(self, term: int) -> int:
        """Return the number of a term in the document."""
        return self._places[term]

    def _within(self, roots: Iterable[int]) -> dict[int, list[int]]:
        """Return all terms with their arguments: of an input the index, of a constant the word."""
        found: dict[int, list[int]] = {}
        pending = list(set(roots))
        while pending:
            term = pending.pop()
            if term in found:
                continue
            name = self._store.operation(term).name
            arguments = [argument for argument in self._store.arguments(term).tolist() if argument >= 0]
            if name == CONSTANT:
                found[term] = [int(self._store.constant_values(np.array([term]))[0])]
            elif name in (*LEAVES, NORMAL_FORM):
                found[term] = arguments[:1]
            else:
                if name == VECTOR:
                    arguments = self._store.elements(np.array([term])).reshape(-1).tolist()
                found[term] = arguments
                pending += [argument for argument in arguments if argument not in found]
        return found

    def _operation(self, term: int) -> int:
        number = int(self._store.operation_numbers(term))
        if number not in self._of_operations:
            self._of_operations[number] = len(self.operations)
            self.operations.append(_written(self._store.operations[number]))
        return self._of_operations[number]


def _written(operation: Operation) -> list[Any]:
    result, *operands = map(_name, (operation.result, *operation.operands))
    return [operation.name, result, operands, _plain(operation.attribute)]


def _name(fmt: Format) -> str:
    assert not isinstance(fmt, FloatFormat) or FORMATS[fmt.name] == fmt
    return fmt.name


def _plain(attribute: Any) -> Any:
    if isinstance(attribute, Enum):
        return attribute.name
    if isinstance(attribute, tuple):
        return [_plain(each) for each in attribute]
    return attribute if isinstance(attribute, str | int | bool | None) else repr(attribute)
