"""Counts and times of a verification, as its JSON document has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from ...spec.json_fields import Amount, Natural


class ShownPart(TypedDict):
    """A part of a proof for every number of a size, at known numbers of the others.

    Attributes
    ----------
    sizes : mapping of str to int
        The others.
    obligation : str
        Such as ``K: step``.
    seconds : float
        What it took.
    line : int
        Of the kernel: where the loop begins, or the kernel itself.
    source : str
        Where the compiler says that this line comes from.
    statement : str
        What was shown.
    """

    sizes: Mapping[str, int]
    obligation: str
    seconds: Amount
    line: Natural
    source: str
    statement: str


class PassedRuns(TypedDict):
    """Runs on numbers that a verified kernel passed.

    Attributes
    ----------
    inputs : int
        Sets of inputs.
    blocks : int
        Blocks of threads that ran.
    elements : int
        Output elements compared.
    seconds : float
        What they took.
    unjudged : int
        Output elements that were not what numpy computes, and of whose roundings no bound is known.
    not_shown : list of str
        What no set of inputs could show: ``C depends on beta``.
    """

    inputs: Natural
    blocks: Natural
    elements: Natural
    seconds: Amount
    unjudged: Natural
    not_shown: list[str]


class OpenElements(TypedDict):
    """Elements that the checker could not evaluate.

    Attributes
    ----------
    reason : str
        Why.
    elements : int
        How many.
    """

    reason: str
    elements: Natural


class CheckedTerms(TypedDict):
    """What the checker evaluated again of elements that are right, but not the identical terms.

    Attributes
    ----------
    elements : int
        How many there are.
    by_residues : int
        Those that a random point of a finite field shows to be equal.
    by_points : int
        Others, of shapes of which some were evaluated on exact numbers.
    open : list of OpenElements
        Those that were not evaluated again.
    """

    elements: Natural
    by_residues: Natural
    by_points: Natural
    open: list[OpenElements]


class Statistics(TypedDict):
    """Counts and times that every verification has; others may come and go.

    Attributes
    ----------
    sizes : list
        The sets of sizes that were looked at.
    outputs, wrong : int
        Output elements compared, and of these those that are not shown to be right.
    obligations : list of ShownPart
        Parts of proofs for every number of a size.
    runs : PassedRuns
        Runs on numbers that a verified kernel passed.
    checker : CheckedTerms
        What was evaluated again of outputs.
    checker_of_proofs : CheckedTerms
        The same of the steps of proofs for every number of a size: base, step and exits of an induction, and
        the tiles that blocks store.
    rows : mapping of str to int
        Instances of rules by name that a certificate has, where one is made.
    total_seconds : float
        The whole.
    """

    sizes: list[Mapping[str, int]]
    outputs: Natural
    wrong: Natural
    obligations: NotRequired[list[ShownPart]]
    runs: NotRequired[PassedRuns]
    checker: NotRequired[CheckedTerms]
    checker_of_proofs: NotRequired[CheckedTerms]
    rows: NotRequired[Mapping[str, Natural]]
    total_seconds: Amount
