"""Proofs for every number of a size, and the ways in which they fail."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ....spec.errors import UnsupportedError
from ...checker.evaluated import Checked
from ...contract.size_domains import SizeDomain
from ...findings.index_overflow import Overflow
from ...findings.result import Equality
from ...sizes.growing_roundings import GrowingRoundings
from ...sizes.symbolic_integers import Doubt

STATEMENTS: Mapping[str, str] = MappingProxyType(
    {
        "base": "for every {name} ≥ {first}, the loop invariant holds before the first iteration (u = 0)",
        "step": "for every u, the iterations over {turn} of {name} lead from the invariant at u to u + 1",
        "exit": "for every {name} = {turn}·u + R, R ≥ {first}, the sum so far and its remainder are stored",
        "sums": "the loop holds the sum so far: before the first step, and {turn} more of {name} after each",
        "cover": "the grid has one block for each tile, and the block proved stands for each of them",
        "order": "a block's state at its first access depends on the position of its tile, not its number",
        "accesses": "accesses are in bounds, aligned and ordered, and no integer wraps before it is extended",
        "tile": "each element of the block's tile of {name} is stored once",
        "value": "the stored values of {name} are those of the formula",
    }
)
"""What is shown, by the parts of proofs."""


@dataclass
class Obligation:
    """An obligation of a proof.

    Attributes
    ----------
    name : str
        Such as ``K: step``.
    seconds : float
        What it took.
    line : int
        Of the kernel: where the loop begins, or the kernel itself.
    statement : str
        What was shown.
    """

    name: str
    seconds: float
    line: int
    statement: str

    def of(self, what: str) -> Obligation:
        """Return it as a part of a larger proof."""
        return replace(self, name=f"{what}: {self.name}")

    def document(self, known: Mapping[str, int]) -> dict[str, Any]:
        """Return its part of the JSON document, at the numbers of the other sizes that were known."""
        return {
            "sizes": dict(known),
            "obligation": self.name,
            "seconds": round(self.seconds, 3),
            "line": self.line,
            "statement": self.statement,
        }


@dataclass
class SizeProof:
    """A proof that a kernel is right for every number that a size may be.

    Attributes
    ----------
    domain : SizeDomain
        The numbers.
    first : int
        All below are to be verified one by one.
    equality : Equality
        The weakest that was needed.
    limit : str
        Why it does not go beyond the domain's end, where the contract's does.
    obligations : list of Obligation
        Base, step and exits.
    roundings : GrowingRoundings, optional
        How often outputs are rounded, where they are right over the reals and it is known.
    overflow : Overflow, optional
        The smallest size behind the domain's end at which an index overflows, if one is found.
    checked : Checked
        What the checker evaluated again of the equalities that the proof is made of.
    assumptions : tuple of str
        What its runs take for granted.
    tail : int
        Of how much one proof stands for every rest; 0 where each rest is a proof of its own.
    """

    domain: SizeDomain
    first: int
    equality: Equality
    limit: str = ""
    obligations: list[Obligation] = field(default_factory=list)
    roundings: GrowingRoundings | None = None
    overflow: Overflow | None = None
    checked: Checked = field(default_factory=Checked)
    assumptions: tuple[str, ...] = ()
    tail: int = 0

    @property
    def alone(self) -> range:
        """The numbers that are to be verified one by one."""
        return range(self.domain.least, min(self.first, self.domain.most + 1), self.domain.step)


class LimitError(UnsupportedError):
    """A proof that fails beyond a number."""

    def __init__(self, most: int, reason: str, doubt: Doubt | None = None) -> None:
        super().__init__(reason)
        self.most, self.doubt = most, doubt


class EarlyError(UnsupportedError):
    """A proof that fails for the first numbers of a size."""


class NextCandidateError(UnsupportedError):
    """A failed attempt; another number of iterations may succeed."""


class UndecidedError(UnsupportedError):
    """A condition that may depend on the residue class of the size."""


class Timed:
    """Records the time of an obligation.

    Parameters
    ----------
    name, line, statement
        As of `Obligation`.
    obligations : list of Obligation
        Where it is noted.
    """

    def __init__(self, name: str, line: int, statement: str, obligations: list[Obligation]) -> None:
        self._name, self._line, self._statement = name, line, statement
        self._obligations = obligations

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            seconds = time.perf_counter() - self._started
            self._obligations.append(Obligation(self._name, seconds, self._line, self._statement))


@dataclass
class BlockProof:
    """A proof for every number of the sizes by which a grid grows.

    Attributes
    ----------
    domains : tuple of SizeDomain
        These sizes, and for which numbers it is shown.
    last : SizeDomain, optional
        The size that is shown by induction, if one is.
    equality : Equality
        The weakest that was needed.
    limit : str
        Why it does not go beyond the ends of the domains, where the contract's do.
    obligations : list of Obligation
        Its parts.
    roundings : GrowingRoundings, optional
        How often outputs are rounded, by the size that is shown by induction.
    overflow : Overflow, optional
        Small sizes behind the ends of the domains at which an index overflows, if some are found.
    checked : Checked
        What the checker evaluated again of the equalities that the proof is made of.
    last_limit : str
        Why the last size is not shown up to the end of its domain, where it is not.
    assumptions : tuple of str
        What its runs take for granted.
    """

    domains: tuple[SizeDomain, ...]
    last: SizeDomain | None
    equality: Equality
    limit: str = ""
    obligations: list[Obligation] = field(default_factory=list)
    roundings: GrowingRoundings | None = None
    overflow: Overflow | None = None
    checked: Checked = field(default_factory=Checked)
    last_limit: str = ""
    assumptions: tuple[str, ...] = ()
