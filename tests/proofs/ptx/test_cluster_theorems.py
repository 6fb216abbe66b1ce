"""Theorems about clusters: mutants that must be refuted."""

from __future__ import annotations

import pytest
from theorem_mutants import refutation_of

from mmaproof.proofs.ptx import clusters

Patch = pytest.MonkeyPatch


def ranks_by_columns(patch: Patch) -> None:
    patch.setattr(clusters, "cluster_rank", lambda at, of: at[2] + of[2] * (at[1] + of[0] * at[0]))


def ranks_are_added(patch: Patch) -> None:
    patch.setattr(clusters, "mapped", lambda address, rank: address + (rank << 24))


def fewer_bits(patch: Patch) -> None:
    patch.setattr(clusters, "mapped", lambda address, rank: (address & 0xFFFF) | (rank << 24))


def ranks_lie_lower(patch: Patch) -> None:
    patch.setattr(clusters, "rank_of", lambda address: address >> 23)


def bits_backwards(patch: Patch) -> None:
    found = clusters.receivers
    patch.setattr(
        clusters, "receivers", lambda mask, n: tuple(n - 1 - rank for rank in reversed(found(mask, n)))
    )


def anybody_receives(patch: Patch) -> None:
    patch.setattr(clusters, "receivers", lambda mask, _: tuple(r for r in range(16) if mask >> r & 1))


test_a_fault_is_refuted = refutation_of(
    (
        (ranks_by_columns, clusters.ranks, "6-blocks"),
        (ranks_are_added, clusters.mapping, "places"),
        (fewer_bits, clusters.mapping, "apart"),
        (ranks_lie_lower, clusters.mapping, "places"),
        (bits_backwards, clusters.multicast, "4-blocks"),
        (anybody_receives, clusters.multicast, "2-blocks"),
    )
)
