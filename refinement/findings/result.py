"""The outcome of verifying a kernel, and its JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from ...spec.json_fields import OPEN, Natural, Positive, WrittenAs
from .finding import KernelFinding, KernelNote, Kind
from .hypothesis import Hypothesis
from .index_overflow import Overflow
from .result_statistics import Statistics

SCHEMA = 1


class Verdict(StrEnum):
    """What is known about a kernel."""

    VERIFIED = "verified"
    SAFE = "safe"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    UNSUPPORTED = "unsupported"


class Equality(StrEnum):
    """In which sense all outputs are what the contract says."""

    BITS = "bits"
    VALUE = "value"


@dataclass(frozen=True)
class Coverage:
    """How much of an output a contract is about.

    Attributes
    ----------
    name : str
        The output.
    sizes : mapping of str to int
        The set of sizes.
    elements, covered : int
        All elements, and those that a formula describes. The others must be left as they are.
    bytes : int
        The memory of those covered.
    """

    name: str
    sizes: Mapping[str, int]
    elements: Natural
    covered: Natural
    bytes: Natural

    def document(self) -> dict[str, Any]:
        """Return its part of the JSON document."""
        return {**asdict(self), "sizes": dict(self.sizes)}

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        rest = self.elements - self.covered
        left = f"; the other {rest} must stay unchanged" if rest else ""
        whole = f"{self.covered} of {self.elements}" if rest else f"all {self.elements}"
        return f"{self.name}{f' at {at}' if at else ''}: {whole} elements, {self.bytes} bytes{left}"


@dataclass(frozen=True)
class Written:
    """How much of an array a kernel wrote.

    Attributes
    ----------
    name : str
        The array.
    sizes : mapping of str to int
        The set of sizes.
    elements, written : int
        All elements, and those that were written whole.
    """

    name: str
    sizes: Mapping[str, int]
    elements: Natural
    written: Natural

    def document(self) -> dict[str, Any]:
        """Return its part of the JSON document."""
        return {**asdict(self), "sizes": dict(self.sizes)}

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        whole = "all" if self.written == self.elements else f"{self.written} of"
        return f"{self.name}{f' at {at}' if at else ''}: {whole} {self.elements} elements written"


@dataclass(frozen=True)
class CaseVerdict:
    """What is known about a kernel for some values of scalars that may be anything.

    Attributes
    ----------
    case : str
        What is supposed of them, such as ``beta = 0``.
    verdict : Verdict
        At every set of sizes.
    equality : Equality, optional
        The weakest that any output needed; None unless verified.
    """

    case: str
    verdict: Verdict
    equality: Equality | None

    def __str__(self) -> str:
        equality = "" if self.equality is None else f" ({self.equality})"
        return f"{self.case}: {self.verdict}{equality}"


class Method(StrEnum):
    """How something is known of the numbers that a size may be."""

    INDUCTION = "induction"
    BLOCKS = "blocks"
    EXHAUSTION = "exhaustion"
    LISTED = "listed"


@dataclass(frozen=True)
class Quantification:
    """A size that may be any number of a domain, and how far the verdict holds for all of them.

    Attributes
    ----------
    name : str
        The size.
    domain : str
        As the contract states it.
    step, least, most : int
        The numbers: multiples of a step, from the least to the most.
    method : Method
        Whether the verdict holds for every number, by induction, because one block stands for all of
        the grid, or because all are listed, or at the sizes that `stats` lists.
    shown_to : int
        The largest number for which it is shown, of all below it too; the largest listed otherwise.
    reason : str
        Why it is not shown for all; empty where it is.
    overflow : Overflow, optional
        Sizes at which an index overflows, of those for which it is not shown, where some are found.
    """

    name: str
    domain: str
    step: Positive
    least: Positive
    most: Positive
    method: Method
    shown_to: Positive
    reason: str = ""
    overflow: Overflow | None = None

    @property
    def states_end(self) -> bool:
        """Whether the contract states the largest number."""
        return "up to" in self.domain

    @property
    def is_whole(self) -> bool:
        """Whether the verdict is shown for every number of the domain."""
        return self.method is not Method.LISTED and self.shown_to == self.most

    def document(self) -> dict[str, Any]:
        """Return its part of the JSON document."""
        return asdict(self)


def scope_of(sizes: Sequence[Quantification]) -> str:
    """Return for which numbers of the sizes that may be many a verdict is shown; empty where none may be."""
    whole = ", ".join(size.name for size in sizes if size.is_whole)
    parts = [f"for every {whole} as stated"] if whole else []
    partial = [
        size for size in sizes if size.method in (Method.INDUCTION, Method.BLOCKS) and not size.is_whole
    ]
    parts += [f"for every {each.name} as stated up to {each.shown_to}, not beyond" for each in partial]
    if listed := ", ".join(size.name for size in sizes if size.method is Method.LISTED):
        parts.append(
            f"{listed} at the sizes listed" if parts else f"at the sizes listed, not for every {listed}"
        )
    return "; ".join(parts)


@dataclass(frozen=True)
class Result:
    """The outcome of `verify`, as `verify --json FILE` writes it.

    Attributes
    ----------
    kernel : str
        The kernel's file.
    against : str, optional
        That of the kernel that it is compared with.
    contract : str
        The contract's file.
    verdict : Verdict
        For all data, at every set of sizes of the contract.
    equality : Equality, optional
        The weakest that any output needed; None unless verified.
    bound : str, optional
        For ``value``: how far the kernel's floats can be from the contract's real numbers, and under which
        hypotheses.
    findings : tuple of KernelFinding
        What is wrong, or not modelled.
    counterexample : str, optional
        The file of inputs on which the kernel is wrong, for `replay`.
    outputs : tuple of Coverage
        What was compared, for each output and set of sizes.
    written : tuple of Written
        Of a contract without formulas: how much of each output was written, at each set of sizes.
    hypotheses : tuple of Hypothesis
        On what ``value`` rests that is not shown.
    assumptions : tuple of str
        What the contract promises of the launch, and the kernel relies on.
    cases : tuple of CaseVerdict
        Of a kernel that goes different ways by what scalars are that may be anything: what is known in each.
    stats : mapping
        Counts and times; which ones there are may change.
    notes : tuple of KernelNote
        What a verdict that holds leaves open: guards that never went both ways, and threads that
        write one value to one place in no order.
    quantified : tuple of Quantification
        Sizes that may be any number of a domain.
    accuracy : tuple of str
        How far the errors of each output are within what the contract allows, under the hypotheses; empty
        where it does not say.
    requires : tuple of str
        The conditions of ``[requires]``: the verdict is about all data that meet them, and about no others.
    """

    kernel: str
    against: str | None
    contract: str
    verdict: Verdict
    equality: Equality | None = None
    bound: str | None = None
    findings: tuple[KernelFinding, ...] = ()
    counterexample: str | None = None
    outputs: tuple[Coverage, ...] = ()
    written: tuple[Written, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    assumptions: tuple[str, ...] = ()
    cases: tuple[CaseVerdict, ...] = ()
    stats: Annotated[Mapping[str, Any], WrittenAs(Statistics), OPEN] = field(default_factory=dict)
    quantified: tuple[Quantification, ...] = ()
    notes: tuple[KernelNote, ...] = ()
    accuracy: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()

    @property
    def strength(self) -> str:
        """In which sense, and for which sizes, a verdict holds, in brackets; empty where there is one set."""
        scope = scope_of(self.quantified) if self.verdict in (Verdict.VERIFIED, Verdict.SAFE) else ""
        told = ", ".join(each for each in (self.equality or "", scope) if each)
        return f" ({told})" if told else ""

    @property
    def claim(self) -> str:
        """For which data, in which sense and under which hypotheses a verdict holds that nothing is wrong."""
        which = f" that meet [requires] ({'; '.join(self.requires)})" if self.requires else ""
        sense = {Equality.BITS: ", bit by bit", Equality.VALUE: ", over the real numbers"}
        supposed = "; ".join(hypothesis.statement for hypothesis in self.hypotheses)
        return (
            f"for all data{which}{sense[self.equality] if self.equality else ''}"
            f"{f', if {supposed}' if supposed else ''}"
        )

    def document(self) -> dict[str, Any]:
        """Return the JSON document; ``docs/schemas/verify.schema.json`` describes it."""
        return {
            "schema": SCHEMA,
            **asdict(self),
            "outputs": [output.document() for output in self.outputs],
            "written": [each.document() for each in self.written],
            "hypotheses": [hypothesis._asdict() for hypothesis in self.hypotheses],
            "quantified": [quantification.document() for quantification in self.quantified],
            "stats": dict(self.stats),
        }


def verdict_of(findings: Sequence[KernelFinding], equality: Equality | None, *, memory_only: bool) -> Verdict:
    """Return the verdict that findings and an equality give, or of memory alone, findings.

    A refutation stands whatever else is not modelled; nothing is verified while anything is left open.
    """
    kinds = {finding.kind for finding in findings}
    if any(kind.refutes for kind in kinds):
        return Verdict.REFUTED
    if Kind.UNSUPPORTED in kinds:
        return Verdict.UNSUPPORTED
    if memory_only:
        return Verdict.UNDECIDED if Kind.UNDECIDED in kinds else Verdict.SAFE
    return Verdict.UNDECIDED if equality is None else Verdict.VERIFIED
