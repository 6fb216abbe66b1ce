"""Wrong elements are told by the warps that store them, where those store nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.findings.described_elements import stored_by

WRITERS = np.arange(4 * 128, dtype=np.int64)
"""Of four blocks of four warps, each thread stores one element."""


@pytest.mark.parametrize(
    ("warps", "told"),
    [
        ((3,), "what warp 3 of each block stores"),
        ((1, 2), "what warps 1 to 2 of each block store"),
        ((0, 1, 3), "what warps 0, 1 and 3 of each block store"),
        ((0, 1, 2, 3), ""),
        ((), ""),
    ],
)
def test_all_that_warps_store_is_told_by_them(warps: tuple[int, ...], told: str) -> None:
    members = np.isin(WRITERS % 128 // 32, warps)
    assert stored_by(WRITERS, members, 128) == told
    for change in np.flatnonzero(members)[:1].tolist():
        assert stored_by(WRITERS, members & (change != WRITERS), 128) == ""
        assert stored_by(np.where(change == WRITERS, -1, WRITERS), members, 128) == ""
    assert stored_by(WRITERS, members, 1) == ""
