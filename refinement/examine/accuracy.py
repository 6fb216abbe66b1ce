"""Whether a proved error bound is within the contract's accuracy clause, for all data."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F64, FloatFormat, Format
from ..analysis.rounding_depth import roundings
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..errors.absolute_errors import AbsoluteErrors
from ..errors.absolute_parts import NONE, Part
from ..expected.contract_terms import error_terms, expected_terms, literal_growth
from ..findings.finding import KernelFinding, Kind
from ..findings.hypothesis import Hypothesis
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ABSENT, ExpansionError, Polynomials
from ..normal_forms.readings import Quantifier
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import Operation, TermStore
from ..terms.traversal import within

_CHOICES = (operations.SELECT, operations.EXTREMUM)

_SLACK = 1 + 2.0**-30
"""More than the errors of the few operations of f64 that make a bound."""

_STEPS = 1 << 18
"""Terms that are looked at for what dominates an error."""

SHOWN_TEXT = 120
"""Characters of an instruction that are shown."""


@dataclass(frozen=True)
class Limit:
    """A limit of errors: a number times terms.

    Attributes
    ----------
    factor : Fraction
        The number.
    terms : array (n,)
        Terms whose magnitudes are what it is multiplied with.
    format : Format
        What they are read in.
    what : str
        What the terms stand for, in messages.
    text : str
        As the contract has it.
    exact : bool
        Whether the terms themselves are the bound, so that they must be positive.
    """

    factor: Fraction
    terms: Ids
    format: Format
    what: str
    text: str
    exact: bool


@dataclass(frozen=True)
class Accuracy:
    """The errors of an output, compared with the clause.

    Attributes
    ----------
    findings : tuple of KernelFinding
        Why they are not shown to be within the bound.
    statements : tuple of str
        How far they are within it.
    hypotheses : tuple of Hypothesis
        What that takes for granted.
    """

    findings: tuple[KernelFinding, ...] = ()
    statements: tuple[str, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()


class AccuracyCheck:
    """Compares error bounds with the accuracy clause.

    Parameters
    ----------
    path : str
        The kernel's file.
    instance : Instance
        The contract, which says something of errors.
    forms : NormalForms
        Of the store of all terms.
    """

    def __init__(self, path: str, instance: Instance, forms: NormalForms) -> None:
        assert instance.contract.accuracy is not None
        self._path, self._instance, self._forms = path, instance, forms

    def of(
        self,
        output: Array,
        members: NDArray[np.intp],
        actual: Ids,
        expected: Ids,
        names: Callable[[int], str],
        shown: Callable[[Limit, int], str | None],
    ) -> Accuracy:
        """Return what is known of the errors of some elements, all of which are right over the reals.

        Parameters
        ----------
        output : Array
            The output, of floats.
        members : array (n,)
            Its elements, by linear index.
        actual, expected : array (n,)
            Their terms, and those of the contract.
        names : callable
            Names an element, by its place among them.
        shown : callable
            Looks for inputs on which an element's error is above a limit; says what is so on them.
        """
        findings: list[KernelFinding] = []
        statements: list[str] = []
        granted: set[str] = set()
        exact = self._by_exact_quotients(output, members, actual)
        forms, meant = exact or (self._forms, expected)
        literals = literal_growth(self._instance, output, exact_quotients=exact is not None)
        pairs = zip(
            limits_of(self._instance, output, members, expected, self._forms.store),
            limits_of(self._instance, output, members, meant, self._forms.store),
            strict=True,
        )
        for limit, read in pairs:
            bound = _Bounds(forms, self._instance, output.format, actual, read, literals)
            found = bound.finding()
            granted |= bound.granted
            if found is None:
                statements.append(f"{output.name}: {bound.statement()}")
                continue
            kind, place, message, line = found
            if kind is Kind.INACCURATE:  # so far, that is but a bound
                excess = shown(limit, place)
                kind = Kind.UNDECIDED if excess is None else kind
                message = message if excess is None else f"{excess}; {message}"
            findings.append(
                KernelFinding(
                    kind,
                    f"{names(place)}: {message}{_instruction(self._path, line)}",
                    self._path,
                    line,
                    output=names(place),
                )
            )
        taken = roundings(self._forms.store, actual, expected).hypotheses
        return Accuracy(
            tuple(findings),
            tuple(statements),
            (*taken, *(Hypothesis("in-domain", each) for each in sorted(granted))),
        )

    def _by_exact_quotients(
        self, output: Array, members: NDArray[np.intp], actual: Ids
    ) -> tuple[NormalForms, Ids] | None:
        """Return normal forms in which quotients by constants are exact, and what is expected of elements.

        A correctly rounded quotient is then one rounding. None where the kernel has no such quotient, or is
        not equal to the formula so: where it multiplies with a rounded reciprocal.
        """
        store = self._forms.store
        quotients = {operation for operation in store.operations if operation.name == operations.QUOTIENT}
        if not any(quotient.attribute in operations.CORRECTLY_ROUNDED_QUOTIENTS for quotient in quotients):
            return None
        terms = expected_terms(self._instance, output, store, exact_quotients=True)
        expected: Ids = np.asarray(terms).reshape(-1)[members]
        forms = NormalForms(store, quantifier=Quantifier(store, exact_quotients=True))
        try:
            unequal = forms.unequal(actual, expected, output.format)
        except ExpansionError:
            return None
        return None if len(unequal) else (forms, expected)


def limits_of(
    instance: Instance, output: Array, members: NDArray[np.intp], expected: Ids, store: TermStore
) -> list[Limit]:
    """Return what a contract allows elements (n,) of an output, that are to be `expected` (n,), to be off."""
    clause = instance.contract.accuracy
    assert clause is not None
    found = []
    if clause.max_relative is not None:
        text = f"{float(clause.max_relative):.3g}·S"
        found.append(Limit(clause.max_relative, expected, output.format, "S", text, exact=False))
    error = clause.errors.get(output.name)
    if error is not None:
        terms = error_terms(instance, output, error.formula, store)[members]
        found.append(Limit(error.factor, terms, F64, "what the contract allows", error.text, exact=True))
    return found


class _Bounds:
    """The bounds of some terms' errors, beside what is allowed."""

    def __init__(
        self,
        forms: NormalForms,
        instance: Instance,
        fmt: Format,
        actual: Ids,
        limit: Limit,
        literals: float,
    ) -> None:
        assert isinstance(fmt, FloatFormat)
        self._forms, self._format, self._actual, self._limit = forms, fmt, actual, limit
        self._store = forms.store
        self._unit = instance.contract.matrix_rounding
        self._allowed_terms = _of(AbsoluteErrors(forms), limit.terms, limit.format)
        self._errors = AbsoluteErrors(forms, self._unit)
        self._part = self._errors.of(actual, fmt)
        self.granted = self._errors.granted
        self._shares = np.zeros(len(actual))
        self._literals = literals
        reached = within(self._store, limit.terms)
        numbers = np.unique(self._store.operation_numbers(reached))
        self._has_choices = any(self._store.operations[number].name in _CHOICES for number in numbers)

    def finding(self) -> tuple[Kind, int, str, int] | None:
        """Return what is not shown, of which element, and the line that it is about; None if all is."""
        unknown = np.flatnonzero(self._part.reasons != NONE)
        if len(unknown):
            place = int(unknown[0])
            reason = int(self._part.reasons[place])
            name = _named(self._store.operation(reason))
            message = f"no bound is known for the error of {name} on a rounded argument"
            return Kind.UNDECIDED, place, message, int(self._store.lines(reason))
        allowed = self._allowed_terms
        lost = allowed.reasons != NONE
        if self._limit.exact:
            lost |= ~(allowed.definite & allowed.positive)
        if lost.any():
            place = int(np.flatnonzero(lost)[0])
            what = (
                f"{self._limit.text} is not a sum of products of absolute values"
                if self._limit.exact
                else "terms that the contract adds contain functions without a known bound on their magnitude"
            )
            return Kind.UNDECIDED, place, f"its error can't be compared with the limit: {what}", 0
        if not np.isfinite(self._literals):
            what = "a literal or quotient of the formula is rounded inside a function's argument or a divisor"
            return Kind.UNDECIDED, 0, f"its error can't be compared with the limit: {what}", 0
        ratios = self._ratios()
        growth = np.expm1(self._part.growth + self._literals) * _SLACK
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = growth / (ratios * float(self._limit.factor))
        self._shares = np.where(growth == 0, 0.0, shares)
        place = int(np.argmax(self._shares)) if len(self._shares) else 0
        if not len(self._shares) or self._shares[place] <= 1:
            return None
        if ratios[place] == 0:
            message = (
                f"its error is {growth[place]:.3g} times magnitudes that {self._limit.text} "
                "is not shown to bound"
            )
            return Kind.UNDECIDED, place, message, 0
        line, dominant = self._dominant(int(self._actual[place]))
        share = self._shares[place]
        much = (
            f"{growth[place] / ratios[place]:.3g}·S, S = Σ |term|; {self._limit.text} is allowed"
            if not self._limit.exact
            else f"{share:.3g} times what is allowed, {self._limit.text}"
        )
        return Kind.INACCURATE, place, f"its error may be {much}; {dominant}", line

    def statement(self) -> str:
        """Return how far all errors are within what is allowed."""
        share = float(self._shares.max(initial=0.0))
        if self._limit.exact:
            return f"|computed - exact| ≤ {share:.3g} · ({self._limit.text}) for all data"
        reached = share * float(self._limit.factor)
        whole = bool(self._allowed_terms.definite.all())
        choices = "" if whole or not self._has_choices else ", with all branches of selects"
        size = "the magnitude of the result" if whole else f"Σ |term| of the formula{choices}"
        return f"|computed - exact| ≤ {reached:.3g}·S ≤ {self._limit.text} for all data, S = {size}"

    # -- how much of what is allowed a magnitude is
    def _ratios(self) -> NDArray[np.float64]:
        """Return by how much each magnitude can be multiplied and still be no more than what is allowed."""
        found = np.ones(len(self._actual))
        mine, theirs = self._part.magnitudes, self._allowed_terms.magnitudes
        apart = np.flatnonzero(mine != theirs)
        if len(apart):
            differing = np.unique(self._forms.difference(mine[apart], theirs[apart], F64).owners)
            apart = apart[differing]
        if not len(apart):
            return found
        found[apart] = self._multiples(mine[apart], theirs[apart])
        missing = apart[found[apart] == 0]
        if len(missing):
            relaxed = _of(
                AbsoluteErrors(self._forms, self._unit, relaxed=True), self._actual[missing], self._format
            )
            found[missing] = self._multiples(relaxed.magnitudes, theirs[missing])
        return found

    def _multiples(self, mine: Ids, theirs: Ids) -> NDArray[np.float64]:
        """Return the greatest numbers by which the ones are in no monomial more than the others."""
        try:
            one, other = (self._forms.thorough.polynomials(each, F64) for each in (mine, theirs))
        except ExpansionError:
            return np.zeros(len(mine))
        allowed = _monomials(other)
        found = np.full(len(mine), np.inf)
        for key, factor in _monomials(one).items():
            ratio = float(allowed.get(key, 0) / factor) / _SLACK
            found[key[0]] = min(found[key[0]], ratio)
        return np.where(np.isinf(found), 1.0, found)

    # -- what dominates
    def _dominant(self, term: int) -> tuple[int, str]:
        """Return the line at which most of the error is made, and say what is."""
        growths: dict[tuple[str, int], float] = defaultdict(float)
        counts: Counter[tuple[str, int]] = Counter()
        pending: list[tuple[int, Format]] = [(term, self._format)]
        steps = 0
        while pending and steps < _STEPS:
            steps += 1
            node, fmt = pending.pop()
            candidates = self._errors.candidates(node, fmt)
            if not candidates:
                continue
            sums = [sum(self._errors.growth(*each) for each in some) for some in candidates]
            best = int(np.argmax(sums))
            own = self._errors.growth(node, fmt) - sums[best]
            if own > 0:
                key = str(self._store.operation(node).result), int(self._store.lines(node))
                growths[key] += own
                counts[key] += 1
            pending += candidates[best]
        formats: dict[str, float] = defaultdict(float)
        for (fmt_name, _), amount in growths.items():
            formats[fmt_name] += amount
        if not formats:
            return 0, "no single format makes most of it"
        name = max(formats, key=lambda each: formats[each])
        here = {key: amount for key, amount in growths.items() if key[0] == name}
        line = max(here, key=lambda key: here[key])[1]
        steps = sum(count for key, count in counts.items() if key[0] == name)
        part = formats[name] / self._errors.growth(term, self._format)
        return line, f"{part:.0%} of it is from {steps} operation{'s' * (steps > 1)} in {name}"


def _of(errors: AbsoluteErrors, terms: Ids, fmt: Format) -> Part:
    return errors.of(terms, fmt)


def _monomials(found: Polynomials) -> dict[tuple[int, ...], Fraction]:
    """Return the coefficients of polynomials by owner and monomial."""
    return {
        (owner, *(atom for atom in atoms if atom != ABSENT)): Fraction(factor)
        for owner, atoms, factor in zip(
            found.owners.tolist(), found.atoms.tolist(), found.coefficients.tolist(), strict=True
        )
    }


def _named(operation: Operation) -> str:
    return str(operation.attribute) if operation.name == "function" else operation.name


def _instruction(path: str, line: int) -> str:
    """Return what a line of a kernel's text says, as part of a message; nothing of files that are no text."""
    if not line:
        return ""
    try:
        text = Path(path).read_text(encoding="utf-8").splitlines()[line - 1].strip()
    except (OSError, UnicodeDecodeError, IndexError):
        return ""
    return f", most in line {line}: {text[:SHOWN_TEXT]}" if text else ""
