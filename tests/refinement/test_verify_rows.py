"""Softmax, norms, gated activations and attention that Triton compiled: verified, and refuted with faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmaproof.refinement.result import Verdict
from mmaproof.refinement.verification import verify

CORPUS = Path(__file__).parent.parent / "kernels" / "triton_rows"
KERNELS = json.loads((CORPUS / "kernels.json").read_text(encoding="utf-8"))

SIZES = {"attention": "N = 32\nD = 16", "swiglu": "N = 70", "geglu": "N = 70"}
MATRIX, VECTOR = ["M", "N"], ["N"]
OF_VECTORS = {"a": ("A", "f16", VECTOR), "b": ("B", "f16", VECTOR), "y": ("Y", "f16", VECTOR)}
OF_ROWS = {
    "x": ("X", "f32", MATRIX),
    "y": ("Y", "f32", MATRIX),
    "w": ("W", "f32", VECTOR),
    "b": ("B", "f32", VECTOR),
}
OF_HEADS = {each: (each.upper(), "f32" if each == "o" else "f16", ["N", "D"]) for each in "qkvo"}
S = "S[i, k] = scale * sum(d, Q[i, d] * K[k, d])"
ATTENTION = "O[i, j] = sum(k < N, {0} * V[k, j]) / sum(k < N, {0})"

MEANING = {
    "softmax": (OF_ROWS, [], "Y[i, j] = exp(X[i, j]) / sum(k, exp(X[i, k]))"),
    "rms_norm": (OF_ROWS, [], "Y[i, j] = X[i, j] * W[j] / sqrt(sum(k, X[i, k] * X[i, k]) / N + epsilon)"),
    "layer_norm": (
        OF_ROWS,
        ["m[i] = sum(k, X[i, k]) / N", "v[i] = sum(k, (X[i, k] - m[i]) * (X[i, k] - m[i])) / N"],
        "Y[i, j] = (X[i, j] - m[i]) / sqrt(v[i] + epsilon) * W[j] + B[j]",
    ),
    "swiglu": (OF_VECTORS, [], "Y[i] = silu(A[i]) * B[i]"),
    "geglu": (
        OF_VECTORS,
        ["t[i] = 0.7978845608 * (A[i] + 0.044715 * A[i] * A[i] * A[i])"],
        "Y[i] = A[i] * B[i] / (1 + exp(-2 * t[i]))",
    ),
    "attention": (OF_HEADS, [S], ATTENTION.format("exp(S[i, k])")),
    "causal_attention": (OF_HEADS, [S], ATTENTION.format("where(k <= i, exp(S[i, k]), 0)")),
}  # fmt: skip


def contract(name: str) -> str:
    facts = KERNELS[name]
    arrays, let, formula = MEANING[facts["kernel"]]
    stem = facts["kernel"].removeprefix("causal_")
    lines = ['[kernel]\nisa = "ptx"\n[launch]\ngrid = 2', f"block = {facts['threads']}"]
    lines += [f"dynamic_shared = {facts['shared_bytes']}", "[sizes]", SIZES.get(stem, "M = 2\nN = 50")]
    for each in facts["parameters"]:
        lines.append("[[param]]")
        if each.endswith("_pointer"):
            label, fmt, shape = arrays[each.removesuffix("_pointer")]
            access = "out" if label in "YO" else "in"
            lines += [
                f'name = "{label}"\ntype = "{fmt}"',
                f"shape = {json.dumps(shape)}",
                f'access = "{access}"',
            ]
        elif each.endswith("_scratch"):
            lines.append(f'name = "{each}"\ntype = "u64"\nvalue = 0')
        elif each == "n":
            lines.append('name = "n"\ntype = "s32"\nvalue = "N"')
        else:
            lines.append(f'name = "{each}"\ntype = "f32"\nvalue = "any"')
    return "\n".join(
        [*lines, "[ensures]", f"let = {json.dumps(let)}" if let else "", f'formula = "{formula}"\n']
    )


@pytest.mark.parametrize("name", KERNELS)
def test_the_verdict_is_that_of_the_source(name: str, tmp_path: Path) -> None:
    written = tmp_path / "contract.toml"
    written.write_text(contract(name), encoding="utf-8")
    found = verify(CORPUS / name, written)
    if KERNELS[name]["fault"] is None:
        assert (found.result.verdict, found.result.findings) == (Verdict.VERIFIED, ())
    else:
        assert found.result.verdict is Verdict.REFUTED, found.result.findings
