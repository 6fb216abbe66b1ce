"""Products as the manual describes them, on whole numbers: matrices in lanes, lanes that read other lanes.

Sources: CDNA4 ISA, chapter 7 (operands in lanes, cbsz, abid, blgp); AMD matrix instruction calculator 1.3.2
(C and D of f64_4x4x4; neighbours for cbsz).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Matrix = np.ndarray[Any, Any]


def lanes_of_factor(rows: int, blocks: int, held: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return block, row and k of each element (lane, e) of A; of B with its columns for rows."""
    lane, e = np.indices((64, held))
    return lane // rows % blocks, lane % rows, held * (lane // (rows * blocks)) + e


def lanes_of_result(m: int, n: int, blocks: int, double: bool) -> tuple[Matrix, Matrix, Matrix]:
    """Return block, row and column of each element (lane, e) of C and D."""
    lane, e = np.indices((64, m * n * blocks // 64))
    run = 1 if double else 4
    across = max(1, 64 * run // (m * n))
    beside = 64 // (across * n)
    groups = m // (run * beside)
    row = e % run + run * (lane // n // across + beside * (e // run % groups))
    return lane // n % across + across * (e // run // groups), row, lane % n


def broadcast(lane: Matrix, rows: int, cbsz: int, abid: int, reading: str) -> Matrix:
    """Return the lane whose A each lane reads."""
    if reading == "lanes":
        repeated = 64 // 2**cbsz
        return np.asarray(lane % repeated + repeated * abid)
    block, within = lane // rows, lane % rows
    group: Matrix = block - block % 2**cbsz
    return np.where(cbsz > 0, (group + abid) * rows + within, lane)


def permuted(lane: Matrix, blgp: int) -> Matrix:
    """Return the lane whose B each lane reads."""
    readings: list[Matrix] = [
        lane, lane % 32, lane % 32 + 32, (lane + 16) % 64, lane % 16, lane % 16 + 16, lane % 16 + 32,
        lane % 16 + 48,
    ]  # fmt: skip
    return readings[blgp]


MODIFIED = (
    # instruction of gfx942, cbsz, abid, blgp
    ("f32_4x4x4_16b_f16", 1, 1, 0), ("f32_4x4x4_16b_f16", 2, 3, 1), ("f32_4x4x4_16b_f16", 4, 13, 2),
    ("f32_16x16x4_4b_f16", 1, 0, 3), ("f32_16x16x4_4b_f16", 2, 2, 4), ("f32_32x32x4_2b_f16", 1, 1, 5),
    ("i32_4x4x4_16b_i8", 3, 5, 6), ("i32_16x16x4_4b_i8", 1, 1, 7), ("f32_32x32x2_f32", 0, 0, 3),
    ("f32_16x16x4_f32", 0, 0, 6), ("f32_32x32x1_2b_f32", 1, 0, 1),
)  # fmt: skip
"""Instructions whose modifiers have lanes read others."""
