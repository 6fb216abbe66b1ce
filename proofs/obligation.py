"""Obligations: what is claimed, in which equality, and how it is to be decided.

A claim is one function over an algebra. Z3 gets a formula from it, numpy a truth value: the
counterexample of a solver is replayed by calling the very function that produced the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from ..spec.algebra import Algebra, Array, Operand
from ..spec.formats import FloatFormat, Format, IntegerFormat
from ..spec.rounding import Rounding


class Status(StrEnum):
    """Outcome of deciding an obligation."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    ERROR = "error"


Expected = Literal[Status.PROVED, Status.REFUTED]
"""What an obligation can expect."""


class Equality(StrEnum):
    """Which equality an obligation means."""

    BITS = "bits"
    IEEE = "ieee"
    VALUE = "value"

    @property
    def meaning(self) -> str:
        """One line on what it says."""
        return {
            Equality.BITS: "the same encoding",
            Equality.IEEE: "equal as IEEE numbers (-0 = +0), or both NaN",
            Equality.VALUE: "equal over the reals or the ring",
        }[self]


class Method(StrEnum):
    """How an obligation is to be decided: what is tried first, not what decided it (see `Verdict.method`)."""

    SMT = "smt"
    """Terms are built; a solver is asked about what is left of them."""

    STRUCTURAL = "structural"
    """Origins of bits first, then as `SMT`; polynomials where the claim is over a ring."""

    CERTIFICATE = "certificate"
    """A finite domain is enumerated; the witness then goes as `SMT`."""

    INDUCTION = "induction"
    """From the verdicts on the premises, which are instances of a formula."""

    DEDUCTION = "deduction"
    """From the verdicts on the premises."""


RN = IntegerFormat("rounding", 2, signed=False)
"""The format of a rounding direction, coded as FPSCR.RN."""


def immediate(bits: int) -> IntegerFormat:
    """Return the format of an unsigned immediate of `bits` bits."""
    return IntegerFormat(f"u{bits}", bits, signed=False)


@dataclass(frozen=True)
class Variable:
    """A universally quantified input of a claim: an array of encodings.

    Attributes
    ----------
    name : str
        Its name in the claim and in counterexamples.
    format : Format
        Element format; `RN` makes it a rounding direction.
    shape : tuple of int
        Extents, without batch axes.
    """

    name: str
    format: Format
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Equation:
    """``where ⇒ left = right``, elementwise.

    Attributes
    ----------
    left, right : array
        Encodings, exact integers or conditions (then `format` is None).
    format : Format, optional
        Format of the encodings; needed by `ieee` equality and to print values.
    where : array, optional
        Condition under which the sides must be equal.
    label : str
        What is compared, for messages.
    """

    left: Array
    right: Array
    format: Format | None = None
    where: Array | None = None
    label: str = ""

    def truth(self, alg: Algebra, equality: Equality) -> Array:
        """Return the equalities (without the condition) in an algebra."""
        if equality is Equality.IEEE and isinstance(self.format, FloatFormat):
            return alg.ieee_equal(Operand(self.left, self.format), Operand(self.right, self.format))
        return alg.same(self.left, self.right)


def holds(alg: Algebra, condition: Array, label: str = "", where: Array | None = None) -> Equation:
    """Return the equation that a condition is true."""
    return Equation(condition, alg.same(condition, condition), None, where, label)


class EmptyClaimError(ValueError):
    """A claim says nothing: it has no equation, or no equation has an element."""

    def __init__(self) -> None:
        super().__init__("defect of mmaproof: the claim has no equation, so nothing would be proved")


Inputs = Mapping[str, Any]
Claim = Callable[[Algebra, Inputs], Iterable[Equation]]
Assumptions = Callable[[Algebra, Inputs], Iterable[Array]]


@dataclass(frozen=True)
class Property:
    """A claim about all values of its variables.

    Attributes
    ----------
    variables : tuple of Variable
        What is universally quantified.
    claim : callable
        Maps an algebra and the variables' arrays to equations.
    assuming : callable, optional
        Maps the same to conditions under which the claim is made.
    pinned : mapping, optional
        The encodings (nested lists, by variable name) of a known counterexample.
    abstract : bool
        Try with uninterpreted products and sums before the exact theories.
    """

    variables: tuple[Variable, ...]
    claim: Claim
    assuming: Assumptions | None = None
    pinned: Mapping[str, Any] | None = None
    abstract: bool = True


@dataclass(frozen=True)
class RingProperty:
    """A claim over an exact commutative ring: its variables are indeterminates.

    ``concrete`` maps names of non-ring inputs (masks) to their values.
    """

    variables: tuple[Variable, ...]
    claim: Claim
    concrete: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class IntegerProperty(RingProperty):
    """A claim over the integers, which are compared and divided, too; its variables are not negative.

    Attributes
    ----------
    assuming : callable, optional
        Conditions under which the claim is made.
    """

    assuming: Assumptions | None = None


class RealGoal(NamedTuple):
    """A part of a claim about real numbers.

    Attributes
    ----------
    label : str
        Its name.
    condition : Z3 term
        What is claimed.
    needs : sequence of Z3 terms, optional
        The assumptions and the goals before it that it is shown from; None for all of them.
    """

    label: str
    condition: Any
    needs: Sequence[Any] | None = None


class RealClaim(NamedTuple):
    """A claim about real numbers, as Z3 terms.

    Attributes
    ----------
    assumptions : sequence of Z3 terms
        Under which it is made.
    goals : sequence of RealGoal
        What is claimed; what comes before may be used for what follows.
    """

    assumptions: Sequence[Any]
    goals: Sequence[RealGoal]


@dataclass(frozen=True)
class RealProperty:
    """A claim about all real numbers that meet what it assumes, and what is true of `real_terms.Facts`.

    Numbers that do not meet it refute nothing: more may be true of what its constants name.

    Attributes
    ----------
    claim : callable
        Builds it.
    """

    claim: Callable[[], RealClaim]


@dataclass(frozen=True)
class RefutableProperty(RealProperty):
    """A claim about terms of a solver that values refute, which are evaluated without one.

    Attributes
    ----------
    refuting : callable
        Returns the first of some values, by variable, at which the claim is false, and its two sides there;
        None if it is false at none of them.
    sorts : mapping of str to str
        What its variables are, by name.
    """

    refuting: Callable[[], tuple[Mapping[str, str], tuple[str, str]] | None]
    sorts: Mapping[str, str]


@dataclass(frozen=True)
class Certificate:
    """A claim over a finite domain that numpy checks completely.

    Attributes
    ----------
    check : callable
        Returns None, or a message that names the first failing point.
    points : int
        Size of the domain.
    witness : Property, optional
        The same claim for a solver, the second witness; two tables that are compared have none.
    claim : Property, optional
        What is checked, where that is one property and the domain is all encodings; for deductions to use.
    stated : bool
        Whether the points are what is stated apart from the specification: entries and examples, no domain.
    """

    check: Callable[[], str | None]
    points: int
    witness: Property | None = None
    claim: Property | None = None
    stated: bool = False


@dataclass(frozen=True)
class Deduction:
    """A claim that follows from other obligations, by an argument in words that nothing checks.

    The arguments of an `induction.Induction` and of an `entailment.Entailment` are checked.
    """

    premises: tuple[str, ...]


Goal = Property | RingProperty | RealProperty | Certificate | Deduction


FROM_PREMISES = (Method.INDUCTION, Method.DEDUCTION)
"""How obligations are decided whose goals are deductions."""


@dataclass(frozen=True)
class Obligation:
    """One statement to decide.

    Attributes
    ----------
    id : str
        Stable: ``isa/family/theorem/case``.
    statement : str
        The statement as mathematics.
    goal : callable
        Builds the goal; called only where it is decided.
    expect : Status
        `PROVED`, or `REFUTED` for a pinned non-theorem.
    equality : Equality
        Which equality is meant.
    method : Method
        What is tried first.
    choices : str
        The readings of open points it holds for.
    source : str
        Where the instruction set states it.
    """

    id: str
    statement: str
    goal: Callable[[], Goal]
    expect: Status = Status.PROVED
    equality: Equality = Equality.BITS
    method: Method = Method.SMT
    choices: str = "all"
    source: str = ""


@dataclass(frozen=True)
class Case:
    """One obligation of a theorem, before it has the theorem's id, statement and source.

    The attributes are those of `Obligation`; `statement` defaults to the theorem's.
    """

    name: str
    goal: Callable[[], Goal]
    expect: Status = Status.PROVED
    equality: Equality = Equality.BITS
    method: Method = Method.SMT
    choices: str = "all"
    statement: str = ""


@dataclass(frozen=True)
class Theorem:
    """A family of obligations with one statement.

    Attributes
    ----------
    id : str
        Prefix of its obligations' ids.
    title : str
        One line in words.
    statement : str
        The mathematics.
    source : str
        Where the instruction set states it.
    cases : callable
        Yields the obligations' particulars.
    """

    id: str
    title: str
    statement: str
    source: str
    cases: Callable[[], Iterator[Case]]

    def obligations(self) -> Iterator[Obligation]:
        """Yield the obligations."""
        for case in self.cases():
            yield Obligation(
                f"{self.id}/{case.name}",
                case.statement or self.statement,
                case.goal,
                case.expect,
                case.equality,
                case.method,
                case.choices,
                self.source,
            )

    def obligation(self, name: str) -> Obligation:
        """Return the obligation of the case with a name.

        Raises
        ------
        KeyError
            If there is none.
        """
        return {each.id: each for each in self.obligations()}[f"{self.id}/{name}"]


def theorem_of(obligation: Obligation, theorems: Mapping[str, Theorem]) -> Theorem:
    """Return the theorem, of those by id, that an obligation belongs to: the longest that prefixes its id."""
    prefix = obligation.id
    while prefix:
        prefix = prefix.rpartition("/")[0]
        if prefix in theorems:
            return theorems[prefix]
    raise ValueError(f"{obligation.id} is of none of the theorems {', '.join(theorems)}")


def theorem(
    identifier: str, title: str, statement: str, source: str
) -> Callable[[Callable[[], Iterator[Case]]], Theorem]:
    """Make a theorem of a function that yields its cases."""
    return lambda cases: Theorem(identifier, title, statement, source, cases)


def rounding_of(value: Any) -> Rounding | Any:
    """Return the direction of a concrete FPSCR.RN value, or the symbolic value as it is."""
    return Rounding(int(value)) if isinstance(value, int) else value
