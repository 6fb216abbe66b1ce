"""Contracts for the Triton kernels of the corpus, made from what ``kernels.json`` says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "kernels" / "triton"
KERNELS: Mapping[str, Mapping[str, Any]] = json.loads((CORPUS / "kernels.json").read_text(encoding="utf-8"))

ELEMENTS = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "f32",
    "s8": "s8",
    "s32": "s32",
    "e4m3": "e4m3",
    "e5m2": "e5m2",
}


def sizes(facts: Mapping[str, Any]) -> dict[str, int]:
    """Return sizes that show a fault: several tiles each way; M, N, K different, ragged if allowed."""
    m, n, k = facts["tile"]
    ragged = facts["ragged"]
    return {
        "M": m + (5 if ragged else m),
        "N": 2 * n + (3 if ragged else n),
        "K": 3 * k + (7 if ragged else k),
    }


def contract(facts: Mapping[str, Any], extents: Mapping[str, int] | None = None) -> str:
    """Return the text of a contract."""
    at = dict(extents or sizes(facts))
    types = facts["types"]
    ab = "f32" if types["ab"] == "tf32" else types["ab"]
    read = "tf32" if types["ab"] == "tf32" else ""
    m, n, _ = facts["tile"]
    strides = {
        "stride_am": at["K"],
        "stride_ak": 1,
        "stride_bk": 1 if facts["b_columns"] else at["N"],
        "stride_bn": at["K"] if facts["b_columns"] else 1,
        "stride_cm": at["N"],
        "stride_cn": 1,
    }
    alignment = 16 if facts["divisible_by_16"] else 4
    lines = [
        "[kernel]", 'isa = "ptx"', f'entry = "{facts["entry"]}"',
        "[launch]",
        f"grid = {ceil(at['M'] / m) * ceil(at['N'] / n)}",
        f"block = {facts['threads']}",
        f"dynamic_shared = {facts['shared_bytes']}",
        "[sizes]", *(f"{name} = {value}" for name, value in at.items()),
    ]  # fmt: skip
    arrays = {
        "a_pointer": ("A", ab, ["M", "K"], "row-major", "in"),
        "b_pointer": ("B", ab, ["K", "N"], "column-major" if facts["b_columns"] else "row-major", "in"),
        "c_pointer": ("C", types["c"], ["M", "N"], "row-major", "out"),
        "bias_pointer": ("bias", types["c"], ["N"], "row-major", "in"),
    }
    for name in facts["parameters"]:
        lines.append("[[param]]")
        if name in arrays:
            label, element, shape, order, access = arrays[name]
            lines += [
                f'name = "{label}"', f'type = "{element}"', f"shape = {json.dumps(shape)}",
                f'strides = "{order}"', f'access = "{access}"', f"alignment = {alignment}",
            ]  # fmt: skip
        elif name in ("global_scratch", "profile_scratch"):
            lines += [f'name = "{name}"', 'type = "u64"', "value = 0"]
        else:
            value = strides.get(name, at.get(name.removesuffix("_size").upper(), 0))
            lines += [f'name = "{name}"', 'type = "s32"', f"value = {value}"]
    factors = f"{read}(A[i, k]) * {read}(B[k, j])" if read else "A[i, k] * B[k, j]"
    bias = " + bias[j]" if facts["bias"] else ""
    lines += ["[ensures]", f'formula = "C[i, j] = sum(k, {factors}){bias}"']
    return "\n".join(lines) + "\n"


def for_every_k(name: str, domain: str) -> str:
    """Return the contract of a kernel at one tile of M and N, and K of a domain."""
    m, n, _ = KERNELS[name]["tile"]
    return for_sizes(name, {"M": m, "N": n, "K": domain})


def for_sizes(name: str, wanted: Mapping[str, int | str]) -> str:
    """Return the contract of a kernel at sizes of which some may be domains."""
    facts = KERNELS[name]
    stands = {"M": 6661, "N": 7777, "K": 5557}  # no other numbers of the contract
    text = contract(facts, stands)
    tiles = " * ".join(
        f"(({size} + {tile - 1}) // {tile})" for size, tile in zip("MN", facts["tile"][:2], strict=True)
    )
    text = re.sub(r"grid = \d+", f'grid = "{tiles}"', text)
    for size, number in stands.items():
        text = text.replace(f"\n{size} = {number}", f"\n{size} = {json.dumps(wanted[size])}")
        text = text.replace(f"value = {number}", f'value = "{size}"')
    return text
