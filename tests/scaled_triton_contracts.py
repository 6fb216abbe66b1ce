"""Contracts for the Triton kernels whose operands are scaled, packed or split."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contract_texts import contract_text

CORPUS = Path(__file__).parent / "kernels" / "triton_scaled"
KERNELS: Mapping[str, Mapping[str, Any]] = json.loads((CORPUS / "kernels.json").read_text(encoding="utf-8"))


def contract(facts: Mapping[str, Any], steps: int = 2) -> str:
    """Return the text of a contract for one tile of C and some steps in K."""
    m, n, tile_k = facts["tile"]
    k = steps * tile_k
    formula, arrays, strides = _FORMULAS[facts["entry"]](facts, n, k)
    scalars = {f"stride{index}": f"s32 {stride}" for index, stride in enumerate((*strides, n))}
    return contract_text(
        formula,
        {**arrays, "C": "f32 M N out"},
        sizes={"M": m, "N": n, "K": k},
        scalars={"k_size": "s32 'K'", **scalars, "global_scratch": "u64 0", "profile_scratch": "u64 0"},
        ensures=f"[launch]\nblock = {facts['threads']}\ndynamic_shared = {facts['shared_bytes']}",
    )


Described = tuple[str, dict[str, str], tuple[int, ...]]
"""The formula, the arrays that are read, and the strides after ``k_size`` but that of C."""


def _block_scaled(facts: Mapping[str, Any], n: int, k: int) -> Described:
    element, scale, group, packed = (facts[name] for name in ("element", "scale", "group", "packed"))
    arrays = {
        "A": f"{element} M K",
        "B": f"{element} N K",
        "SA": f"{scale} M K//{group}",
        "SB": f"{scale} N K//{group}",
    }
    formula = f"C[i, j] = sum(k, A[i, k] * SA[i, k // {group}] * B[j, k] * SB[j, k // {group}])"
    return formula, arrays, (k // packed, k // packed, k // group, k // group)


def _dequantised(facts: Mapping[str, Any], n: int, k: int) -> Described:
    formula = "C[i, j] = sum(k, A[i, k] * f16((B[j, k] - 8) * S[k // 64, j]))"
    return formula, {"A": "f16 M K", "B": "u4 N K", "S": "f16 K//64 N"}, (k, k // 2, n)


def _split_tf32(facts: Mapping[str, Any], n: int, k: int) -> Described:
    return "C[i, j] = sum(k, A[i, k] * B[k, j])", {"A": "f32 M K", "B": "f32 K N"}, (k, n)


_FORMULAS = {"block_scaled": _block_scaled, "dequantised": _dequantised, "split_tf32": _split_tf32}
