"""Rechecks a certificate: every step is an instance of a row, and both sides of equations are equal then.

All is evaluated at random points modulo 2^61 - 1, at each with new numbers. A certificate that is wrong
passes with at most the probability that the result states: that two expressions that are not equal have one
value at every point.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import e, log, log2, prod
from typing import Any

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..rules.expression import Functions, evaluate, names
from ..rules.rows import BY_NAME
from ..rules.rule import Theory
from .document import MALFORMED, RefusedError, Section, Step, bits, format_of, section
from .evaluation import Evaluation
from .residues import PRIME, Point, Residue

POINTS = 2
"""At how many points everything is evaluated."""

REAL = (Theory.REAL, Theory.ELEMENTARY, Theory.ORDER, Theory.FLOAT)
"""Theories whose rows are about real numbers; of the last, those without a function of encodings."""

NOT_OF_REALS = (
    "the bound on roundings of what is equal over the reals, that no rounding overflows, and that no result "
    "is NaN or infinite on one side only"
)
"""What no equation over the reals shows."""

_NUMBERS = {
    "log2_of_e": Fraction(log2(e)),
    "ln_of_2": Fraction(log(2)),
    "log2_of_10": Fraction(log2(10)),
    "one": Fraction(1),
}
"""Numbers of which literals may stand for multiples."""

_TERM = re.compile(r"t(\d+)(?:_([a-z]+\d+))?")


@dataclass
class Rechecked:
    """The result of rechecking a certificate.

    Attributes
    ----------
    open : list of str
        What is not rechecked.
    elements : Counter
        Elements of outputs by how their sides are equal.
    rows : Counter
        Instances of rows by name.
    supposed : list of str
        What equations suppose.
    probability : float
        At most so probably a wrong certificate passes.
    """

    open: list[str] = field(default_factory=list)
    elements: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    supposed: list[str] = field(default_factory=list)
    probability: float = 0.0

    def __str__(self) -> str:
        return f"rechecked except: {'; '.join(self.open)}" if self.open else "rechecked"


def recheck(document: Mapping[str, Any]) -> Rechecked:
    """Recheck a certificate.

    Raises
    ------
    RefusedError
        If a part of it is wrong.
    """
    try:
        found = Rechecked(open=[*map(str, document["open"])])
        for each in map(section, document["sections"]):
            _recheck_section(each, found)
    except (*MALFORMED, RecursionError) as error:
        raise RefusedError(f"the certificate is malformed: {error!r}") from error
    is_stated = document.get("equality") in ("value", "value" if found.elements["reals"] else "bits")
    if not is_stated or not (found.elements or found.open):
        raise RefusedError("no elements are equal as the certificate states")
    if found.elements["reals"]:
        found.open.append(f"{NOT_OF_REALS} ({found.elements['reals']:,} elements)")
    return found


def _recheck_section(given: Section, found: Rechecked) -> None:
    if (supposed := supposed_by(given)) != list(given.supposed):
        raise RefusedError(f"{given.title}: the equations suppose {supposed}, not {list(given.supposed)}")
    found.probability += prod(SectionRecheck(given).run() for _ in range(POINTS))
    found.supposed += [each for each in supposed if each not in found.supposed]
    found.rows.update(name.removeprefix("-") for step in given.steps for name in step.rows)
    found.elements.update(equation.relation for equation in given.equations for _ in equation.elements)
    found.open += [f"{given.title}: {reason}" if given.title else str(reason) for reason in given.open]


def supposed_by(given: Section) -> list[str]:
    """Return what the steps and literals of a section suppose of all data.

    Raises
    ------
    RefusedError
        If a literal is not next to what it stands for.
    """
    rules = [BY_NAME.get(name.removeprefix("-")) for step in given.steps for name in step.rows]
    found = {f"{rule.supposed} ({rule.name})" for rule in rules if rule is not None and rule.supposed}
    for (word, fmt), (name, *ratio) in given.literals.items():
        assert isinstance(fmt, FloatFormat)
        exact, stated = fmt.exact(word), Fraction(*ratio) * _NUMBERS[name]
        if exact is None or abs(exact - stated) * (1 << fmt.precision) > abs(stated):
            raise RefusedError(f"0x{word:x} of {fmt} is not close to {Fraction(*ratio)} {name}")
        found.add(f"0x{word:x} of {fmt} stands for {Fraction(*ratio)}{'' if name == 'one' else f' {name}'}")
    return sorted(found)


class SectionRecheck:
    """A section at one random point.

    Parameters
    ----------
    given : Section
        The section.
    """

    def __init__(self, given: Section) -> None:
        self._given, self.point = given, Point()
        self.terms = Evaluation(given, self.point)
        self._shown: Functions = {**self.point.functions, **_SHOWN}

    def run(self) -> float:
        """Check everything; returns the probability by which something wrong passes at most.

        Raises
        ------
        RefusedError
            If something is wrong.
        """
        steps = list(self._given.steps)
        for term in range(len(self._given.terms)):
            try:
                while steps and steps[0].before == term:
                    self.apply(steps.pop(0))
                self.terms.compute(term)
            except MALFORMED as error:
                raise RefusedError(f"term {term} can't be evaluated: {error!r}") from error
        if steps:
            raise RefusedError("a step names a term that does not exist")
        for equation in self._given.equations:
            for element, actual, expected in equation.elements:
                if not self.holds(equation.relation, actual, expected, equation.format):
                    raise RefusedError(f"{equation.output}[{element}] is not {equation.relation}")
        elements = sum(len(each.elements) for each in self._given.equations)
        compared = self.point.applications**2 // 2 + len(self._given.steps) + elements
        return min(1.0, compared * 2 * self.point.degree / PRIME)

    def holds(self, relation: str, actual: int, expected: int, fmt: Format) -> bool:
        """Tell whether two terms, read in a format, are equal as a relation says."""
        if relation == "identical":
            return actual == expected
        integer = isinstance(fmt, IntegerFormat)
        exact = integer and not (self.terms.rounded[actual] or self.terms.rounded[expected])
        if relation != "reals" and not (relation == "ring" and exact):
            return False
        sides = [self.terms.read(each, bits(fmt.bits) if integer else fmt) for each in (actual, expected)]
        self.point.note(*sides)
        return sides[0].value == sides[1].value

    def apply(self, step: Step) -> None:
        """Have the ends of a chain of instances be equal.

        Raises
        ------
        RefusedError
            If it is none, or a guard is not shown.
        """
        try:
            variables = {name: self._expression(text, step.before) for name, text in step.variables.items()}
            sides = [self._sides(name, variables) for name in step.rows]
            variables |= self.point.constants
            left, right = (
                lambda text=text: evaluate(text, self.point.functions, variables)
                for text in (sides[0][0], sides[-1][1])
            )
            chained = all(one[1] == other[0] for one, other in pairwise(sides))
            if not chained or not self.point.equated(left, right):
                raise ValueError("the sides are not equal, and none can be defined")
        except MALFORMED as error:
            raise RefusedError(f"{step.rows} for {dict(step.variables)}: {error!r}") from error

    def _sides(self, name: str, variables: Mapping[str, Residue]) -> tuple[str, str]:
        """Return the sides of a row in the direction in which it is read, if it may be applied."""
        rule = BY_NAME[name.removeprefix("-")]
        texts = (rule.left, rule.right, rule.guard or "0")
        wanted = {variable for text in texts for variable in names(text)} - self.point.constants.keys()
        if not rule.holds or rule.theory not in REAL or wanted != variables.keys():
            raise ValueError(f"{rule.name} is not an equation over the reals {sorted(variables)}")
        if rule.guard and evaluate(rule.guard, self._shown, variables) is not True:
            raise ValueError(f"its guard {rule.guard} is not shown")
        return (rule.right, rule.left) if name.startswith("-") else (rule.left, rule.right)

    def _expression(self, text: str, before: int) -> Residue:
        """Return the value of an expression of terms that stand before another one."""
        found = dict(self.point.constants)
        for name in names(text):
            if match := _TERM.fullmatch(name):
                term = range(before)[int(match[1])]
                own = self._given.terms[term].operation.result
                found[name] = self.terms.read(term, format_of(match[2]) if match[2] else own)
        value: Residue = evaluate(text, self.point.functions, found)
        return value


_SHOWN: Functions = {
    "<": lambda x, y: x.most < y.least,
    "<=": lambda x, y: x.most <= y.least,
    ">": lambda x, y: x.least > y.most,
    ">=": lambda x, y: x.least >= y.most,
    "and": lambda p, q: p and q,
}
"""Conditions of guards: what bounds show."""
