"""Kernels for all sizes by which their grids grow: one block stands for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..spec.errors import InputError, OutOfBudget, UnsupportedError
from .checker.evaluated import Checked
from .contract.contract import Contract
from .contract.size_domains import SizeDomain
from .findings.index_overflow import Overflow
from .findings.result import Equality, Method, Quantification
from .sizes.growing_roundings import GrowingRoundings, joined

Known = Mapping[str, int]


def with_overflow(reason: str, overflow: Overflow | None) -> str:
    """Return why a proof ends at a number: what goes wrong behind it where the kernel was run, if it was."""
    if overflow is None:
        return reason
    where = f"{overflow.file}:{overflow.line}"
    return f"{where}: an index overflows: {overflow}" if overflow.access else f"{reason}; {overflow}"


class BlockProof(Protocol):
    """See `mmaproof.refinement.ptx.any_size.block_proofs.BlockProof`."""

    domains: tuple[SizeDomain, ...]
    last: SizeDomain | None
    equality: Equality
    limit: str
    obligations: list[Any]
    roundings: GrowingRoundings | None
    overflow: Overflow | None
    checked: Checked
    assumptions: tuple[str, ...]
    last_limit: str


class BlockProver(Protocol):
    """See `mmaproof.refinement.ptx.any_size.block_proofs.BlockProver`."""

    others: list[SizeDomain]

    def proof(self, known: Known, last: SizeDomain | None) -> BlockProof:
        """Return a proof with the other sizes known, but one."""
        ...


@dataclass
class BlocksShown:
    """The sizes for which a kernel is proved, of those by which its grid grows.

    Attributes
    ----------
    proofs : list of (mapping, BlockProof)
        With the sizes that were known; one with none where all are shown.
    reasons : dict of str to str
        Why other sizes are not shown for all of their numbers.
    """

    proofs: list[tuple[Known, BlockProof]]
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def equality(self) -> Equality:
        """The weakest that was needed."""
        values = any(proof.equality is Equality.VALUE for _, proof in self.proofs)
        return Equality.VALUE if values else Equality.BITS

    @property
    def roundings(self) -> GrowingRoundings | None:
        """How often outputs are rounded, by the size that is shown by induction, if one is."""
        return joined([proof.roundings for _, proof in self.proofs])

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What their runs take for granted."""
        return tuple(
            dict.fromkeys(assumption for _, proof in self.proofs for assumption in proof.assumptions)
        )

    @property
    def checked(self) -> Checked:
        """What the checker evaluated again of the equalities that the proofs are made of."""
        return sum((proof.checked for _, proof in self.proofs), start=Checked())

    @property
    def overflows(self) -> list[Overflow]:
        """At which sizes, beyond those that are shown, an index overflows."""
        return [proof.overflow for _, proof in self.proofs if proof.overflow is not None]

    @property
    def obligations(self) -> list[dict[str, Any]]:
        """The parts of all proofs."""
        return [
            obligation.document(known) for known, proof in self.proofs for obligation in proof.obligations
        ]

    def quantifications(
        self, domains: Sequence[SizeDomain], largest: Mapping[str, int]
    ) -> tuple[Quantification, ...]:
        """Return how far each size is shown; of those listed, up to the largest that was looked at."""
        return tuple(self._quantification(domain, largest[domain.name]) for domain in domains)

    def _quantification(self, domain: SizeDomain, listed: int) -> Quantification:
        ends = [
            (shown, proof)
            for _, proof in self.proofs
            for shown in (*proof.domains, *([proof.last] if proof.last is not None else []))
            if shown.name == domain.name
        ]
        stated = (domain.name, domain.text, domain.step, domain.least, domain.most)
        if not ends:
            return Quantification(*stated, Method.LISTED, listed, self.reasons.get(domain.name, ""))
        shown, proof = min(ends, key=lambda each: each[0].most)
        inner = proof.last_limit if proof.last is not None and proof.last.name == domain.name else ""
        limit = with_overflow(proof.limit or inner, proof.overflow)
        inducted = any(proof.last is not None and proof.last.name == domain.name for _, proof in self.proofs)
        method = Method.INDUCTION if inducted else Method.BLOCKS
        reason = limit or "a grid can have no more blocks" if shown.most < domain.most else ""
        return Quantification(*stated, method, shown.most, reason, proof.overflow if reason else None)


def shown_by_blocks(prover: Callable[[], BlockProver], contract: Contract) -> BlocksShown:
    """Prove a kernel right for every number of the sizes by which its grid grows.

    Other sizes are shown for all of their numbers too, if there is one; else, or where it can't be, the
    proof is for each of those that stand in for all.

    Raises
    ------
    UnsupportedError
        If it can't be shown; the message says what is in the way.
    """
    try:
        made = prover()
        others = made.others
        if not others:
            return BlocksShown([({}, made.proof({}, None))])
        names = [other.name for other in others]
        reason = f"a proof for every size covers one of {' and '.join(names)} at a time"
        if len(others) == 1:
            try:
                return BlocksShown([({}, made.proof({}, others[0]))])
            except UnsupportedError as error:
                reason = str(error)
        sets = list({tuple(sizes[name] for name in names): None for sizes in contract.sizes})
        known = [dict(zip(names, numbers, strict=True)) for numbers in sets]
        return BlocksShown([(each, made.proof(each, None)) for each in known], dict.fromkeys(names, reason))
    except (InputError, OutOfBudget, MemoryError, RecursionError) as error:
        raise UnsupportedError(str(error) or type(error).__name__) from error
