"""Proofs that kernels are right for every number of a size, and in which ways they fail."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ...spec.errors import UnsupportedError
from ..result import Equality
from ..size_domains import SizeDomain


@dataclass
class Obligation:
    """A part of a proof.

    Attributes
    ----------
    name : str
        Such as ``K: step``.
    seconds : float
        What it took.
    """

    name: str
    seconds: float


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
    """

    domain: SizeDomain
    first: int
    equality: Equality
    limit: str = ""
    obligations: list[Obligation] = field(default_factory=list)

    @property
    def alone(self) -> range:
        """The numbers that are to be verified one by one."""
        return range(self.domain.least, min(self.first, self.domain.most + 1), self.domain.step)


class LimitError(UnsupportedError):
    """A proof that fails beyond a number."""

    def __init__(self, most: int, reason: str) -> None:
        super().__init__(reason)
        self.most = most


class EarlyError(UnsupportedError):
    """A proof that fails for the first numbers."""


class NextCandidateError(UnsupportedError):
    """Another number of turns may do."""


class UndecidedError(UnsupportedError):
    """What happens may depend on rests of the size."""


class Timed:
    """Notes what an obligation took.

    Parameters
    ----------
    name : str
        The obligation.
    obligations : list of Obligation
        Where it is noted.
    """

    def __init__(self, name: str, obligations: list[Obligation]) -> None:
        self._name, self._obligations = name, obligations

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._obligations.append(Obligation(self._name, time.perf_counter() - self._started))
