"""Contracts of the corpus of functions of rows that Triton compiled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

CORPUS = Path(__file__).parent / "kernels" / "triton_rows"
KERNELS: dict[str, dict[str, Any]] = json.loads((CORPUS / "kernels.json").read_text(encoding="utf-8"))

Arrays = dict[str, tuple[str, str, list[str]]]


class Meaning(NamedTuple):
    """What a kernel computes.

    Attributes
    ----------
    arrays : dict
        By the first letter of a parameter: name, format and shape.
    outputs : str
        The names of those that are written.
    formulas : list of str
        What they are.
    let : list of str
        Parts of these.
    sizes : dict
        Of the arrays.
    grid : str
        Blocks along each axis, with semicolons between.
    values : dict
        Contents that are given.
    requires : list of str
        What inputs meet.
    """

    arrays: Arrays
    outputs: str
    formulas: list[str]
    let: Sequence[str] = ()
    sizes: Mapping[str, int] = MappingProxyType({"M": 2, "N": 50})
    grid: str = "2"
    values: Mapping[str, list[int]] = MappingProxyType({})
    requires: Sequence[str] = ()


def _arrays(shape: list[str], **formats: str) -> Arrays:
    return {letter: (letter.upper(), fmt, shape) for letter, fmt in formats.items()}


ROWS, ROW, HEADS = ["M", "N"], ["N"], ["N", "H"]
VECTORS = _arrays(ROW, a="f16", b="f16", y="f16")
NORMED = _arrays(ROWS, x="f32", y="f32") | _arrays(ROW, w="f32", b="f32")
ATTENDED = _arrays(HEADS, q="f16", k="f16", v="f16", o="f32")
PACKED = {
    "w": ("W", "u4", ["K", "N // 8", "8"]),
    "z": ("Z", "u4", ["K // 4", "N // 8", "8"]),
    "s": ("S", "f32", ["K // 4", "N"]),
    "y": ("Y", "f32", ["K", "N"]),
}
SCORES = "S[i, k] = scale * sum(d, Q[i, d] * K[k, d])"
ATTENTION = "O[i, j] = sum(k < N, {0} * V[k, j]) / sum(k < N, {0})"
TURNED = "Y[i, j] = X[i, j] * {0} + where(j < N, -1, 1) * X[i, (j + N) % (2 * N)] * {1}"


def _attention(
    weight: str = "exp(S[i, k])", *, head: int = 16, keys: int = 32, requires: Sequence[str] = ()
) -> Meaning:
    sizes = {"N": keys, "H": head}
    formulas = [ATTENTION.format(weight)]
    return Meaning(ATTENDED, "O", formulas, [SCORES], sizes, "cdiv(N, 16)", requires=requires)


def _of_heads(
    score: str,
    group: int,
    *,
    keys: int,
    others: Arrays,
    outputs: str = "O",
    formulas: Sequence[str] = (),
    **formats: str,
) -> Meaning:
    """Return causal attention of several heads, of which `group` share keys and values."""
    shared = ["H", "N", "D"] if group == 1 else [f"H // {group}", "N", "D"]
    head = "h" if group == 1 else f"h // {group}"
    arrays = _arrays(["H", "N", "D"], q="f16", o=formats.get("o", "f32")) | _arrays(shared, k="f16", v="f16")
    return Meaning(
        arrays | others,
        outputs,
        [
            f"O[h, i, j] = sum(k < N, P[h, i, k] * V[{head}, k, j]) / sum(k < N, P[h, i, k])",
            *formulas,
        ],
        [
            f"S[h, i, k] = scale * sum(d, Q[h, i, d] * K[{head}, k, d]){score}",
            "P[h, i, k] = where(k <= i, exp(S[h, i, k]), 0)",
        ],
        {"N": keys, "D": 16, "H": 2 * group},
        "cdiv(N, 16); H",
    )


MEANINGS = {
    "softmax": Meaning(NORMED, "Y", ["Y[i, j] = exp(X[i, j]) / sum(k, exp(X[i, k]))"]),
    "rms_norm": Meaning(
        NORMED, "Y", ["Y[i, j] = X[i, j] * W[j] / sqrt(sum(k, X[i, k] * X[i, k]) / N + epsilon)"]
    ),
    "layer_norm": Meaning(
        NORMED,
        "Y",
        ["Y[i, j] = (X[i, j] - m[i]) / sqrt(v[i] + epsilon) * W[j] + B[j]"],
        ["m[i] = sum(k, X[i, k]) / N", "v[i] = sum(k, (X[i, k] - m[i]) * (X[i, k] - m[i])) / N"],
        {"M": 2, "N": 20},
    ),
    "swiglu": Meaning(VECTORS, "Y", ["Y[i] = silu(A[i]) * B[i]"], sizes={"N": 70}),
    "geglu": Meaning(
        VECTORS,
        "Y",
        ["Y[i] = 0.5 * A[i] * (1 + tanh(t[i])) * B[i]"],
        ["t[i] = 0.7978845608 * (A[i] + 0.044715 * A[i] * A[i] * A[i])"],
        {"N": 70},
    ),
    "attention": _attention(),
    "causal_attention": _attention("where(k <= i, exp(S[i, k]), 0)"),
    "wide_attention": _attention(head=128),
    "two_pass_attention": _attention(),
    "ragged_attention": _attention(head=64, keys=24),
    "log_softmax": Meaning(NORMED, "Y", ["Y[i, j] = X[i, j] - log(sum(k, exp(X[i, k])))"]),
    "cross_entropy": Meaning(
        _arrays(ROWS, x="f32") | _arrays(["M"], t="s32", y="f32"),
        "Y",
        ["Y[i] = log(sum(k, exp(X[i, k]))) - X[i, T[i]]"],
        values={"T": [3, 41]},
    ),
    "softmax_backward": Meaning(
        _arrays(ROWS, y="f32", g="f32", x="f32"),
        "X",
        ["X[i, j] = Y[i, j] * (G[i, j] - sum(k, Y[i, k] * G[i, k]))"],
    ),
    "rotary": Meaning(
        _arrays(["M", "2 * N"], x="f16", y="f16") | _arrays(ROWS, c="f32", s="f32"),
        "Y",
        [TURNED.format("C[i, j % N]", "S[i, j % N]")],
    ),
    "rotary_angles": Meaning(
        _arrays(["M", "2 * N"], x="f16", y="f16") | _arrays(ROW, f="f32"),
        "Y",
        [TURNED.format("cos(i * F[j % N])", "sin(i * F[j % N])")],
    ),
    "attention_backward": Meaning(
        _arrays(HEADS, q="f16", k="f16", v="f16", g="f16", x="f32", y="f32", z="f32")
        | _arrays(ROW, l="f32", d="f32"),
        "XYZ",
        [
            "X[i, j] = sum(k < N, R[i, k] * K[k, j])",
            "Y[k, j] = sum(i < N, R[i, k] * Q[i, j])",
            "Z[k, j] = sum(i < N, P[i, k] * G[i, j])",
        ],
        [
            SCORES,
            "P[i, k] = exp(S[i, k] - L[i])",
            "R[i, k] = scale * P[i, k] * (sum(d, G[i, d] * V[k, d]) - D[i])",
        ],
        {"N": 32, "H": 16},
        requires=[  # so that the kernel may round P and R to f16
            *(f"abs({name}[i, j]) <= 1" for name in "QKVG"),
            "0 <= scale <= 0.25",
            "L[i] >= 0",
            "abs(D[i]) <= 16",
        ],
    ),
    "combined_attention": Meaning(
        _arrays(["M", "P", "H"], o="f32") | _arrays(["M", "P"], l="f32") | _arrays(["M", "H"], y="f32"),
        "Y",
        ["Y[i, j] = sum(s, exp(L[i, s]) * O[i, s, j]) / sum(s, exp(L[i, s]))"],
        sizes={"M": 2, "P": 3, "H": 16},
    ),
    "add_rms_norm": Meaning(
        _arrays(ROWS, x="f16", r="f16", y="f16", z="f16") | _arrays(ROW, w="f32"),
        "YZ",
        ["Y[i, j] = s[i, j] * W[j] / sqrt(sum(k, s[i, k] * s[i, k]) / N + epsilon)", "Z[i, j] = s[i, j]"],
        ["s[i, j] = X[i, j] + R[i, j]"],
        {"M": 2, "N": 20},
    ),
    "rms_norm_backward": Meaning(
        NORMED | _arrays(ROWS, g="f32", d="f32"),
        "D",
        ["D[i, j] = r[i] * (G[i, j] * W[j] - X[i, j] * r[i] * r[i] * sum(k, G[i, k] * W[k] * X[i, k]) / N)"],
        ["r[i] = 1 / sqrt(sum(k, X[i, k] * X[i, k]) / N + epsilon)"],
        {"M": 2, "N": 20},
    ),
    "online_softmax": Meaning(
        NORMED,
        "Y",
        ["Y[i, j] = exp(X[i, j]) / sum(k, exp(X[i, k]))"],
        sizes={"M": 4, "N": 40},
        grid="M // 4",
    ),
    "kl_divergence": Meaning(
        _arrays(ROWS, x="f32", z="f32") | _arrays(["M"], y="f32"),
        "Y",
        ["Y[i] = sum(k, q[i, k] * (log(q[i, k]) - log(p[i, k])))"],
        [
            "p[i, k] = exp(X[i, k]) / sum(j, exp(X[i, j]))",
            "q[i, k] = exp(Z[i, k]) / sum(j, exp(Z[i, j]))",
        ],
        {"M": 2, "N": 12},
    ),
    "swiglu_backward": Meaning(
        VECTORS | _arrays(ROW, g="f16", x="f32", y="f32"),
        "XY",
        ["X[i] = G[i] * B[i] * sigmoid(A[i]) * (1 + A[i] * (1 - sigmoid(A[i])))", "Y[i] = G[i] * silu(A[i])"],
        sizes={"N": 70},
    ),
    "awq_weights": Meaning(
        PACKED,
        "Y",
        [
            "Y[k, i] = (W[k, i // 8, {0}] - Z[k // 4, i // 8, {0}]) * S[k // 4, i]".format(
                "i % 8 // 2 + i % 2 * 4"
            )
        ],
        sizes={"K": 8, "N": 24},
        grid="K",
    ),
    "gptq_weights": Meaning(
        PACKED | {"w": ("W", "u4", ["K // 8", "N", "8"])},
        "Y",
        ["Y[k, i] = (W[k // 8, i, k % 8] - (Z[k // 4, i // 8, i % 8] + 1)) * S[k // 4, i]"],
        sizes={"K": 8, "N": 24},
        grid="K",
    ),
    "masked_attention": _attention("where(k <= i, exp(S[i, k]), 0)"),
    "grouped_attention": _of_heads(
        "",
        2,
        keys=24,
        others=_arrays(["H", "N"], l="f32"),
        outputs="OL",
        formulas=["L[h, i] = log(sum(k < N, P[h, i, k]))"],
        o="f16",
    ),
    "window_attention": _attention("where(k <= i and i - k < 20, exp(S[i, k]), 0)", keys=48),
    "sloped_attention": _of_heads(" - A[h] * (i - k)", 1, keys=32, others=_arrays(["H"], a="f32")),
    "capped_attention": _attention(
        "where(k <= i, exp(30.0 * tanh(S[i, k] / 30.0)), 0)",
        requires=["abs(Q[i, j]) <= 8", "abs(K[i, j]) <= 8", "abs(scale) <= 1"],  # exp(S / 30) is finite
    ),
    "sink_attention": Meaning(
        ATTENDED | _arrays(["1"], z="f16"),
        "O",
        ["O[i, j] = sum(k < N, P[i, k] * V[k, j]) / (exp(Z[0]) + sum(k < N, P[i, k]))"],
        [SCORES, "P[i, k] = where(k <= i, exp(S[i, k]), 0)"],
        {"N": 32, "H": 16},
        "cdiv(N, 16)",
    ),
    "paged_attention": Meaning(
        _arrays(["B", "H"], q="f16", o="f32")
        | _arrays(["16", "8", "H"], k="f16", v="f16")
        | _arrays(["B", "N"], t="s32")
        | _arrays(["B"], c="s32"),
        "O",
        ["O[b, j] = sum(k < 8 * N, P[b, k] * V[T[b, k // 8], k % 8, j]) / sum(k < 8 * N, P[b, k])"],
        [
            "S[b, k] = scale * sum(d, Q[b, d] * K[T[b, k // 8], k % 8, d])",
            "P[b, k] = where(k < C[b], exp(S[b, k]), 0)",
        ],
        {"B": 2, "N": 4, "H": 16},
        "B",
        {"T": [3, 9, 0, 7, 15, 2, 8, 1], "C": [21, 32]},
    ),
    "smoothed_cross_entropy": Meaning(
        _arrays(ROWS, x="f32") | _arrays(["M"], t="s32", y="f32"),
        "Y",
        ["Y[i] = where(T[i] == -100, 0, L[i] - 0.9 * X[i, max(T[i], 0)] - 0.1 * sum(k, X[i, k]) / N)"],
        ["L[i] = log(sum(k, exp(X[i, k])))"],
        values={"T": [3, -100]},
    ),
    "cross_entropy_backward": Meaning(
        _arrays(ROWS, x="f32", y="f32") | _arrays(["M"], t="s32", g="f32"),
        "Y",
        ["Y[i, j] = G[i] * (exp(X[i, j]) / sum(k, exp(X[i, k])) - where(j == T[i], 1, 0))"],
        values={"T": [3, 41]},
    ),
    "group_norm": Meaning(
        _arrays(["M", "C", "N"], x="f32", y="f32") | _arrays(["C"], w="f32", b="f32"),
        "Y",
        ["Y[b, c, j] = d[b, c // 2, c % 2, j] / sqrt(v[b, c // 2] + 1e-5) * W[c] + B[c]"],
        [
            "m[b, g] = sum(p < 2, k, X[b, 2 * g + p, k]) / (2 * N)",
            "d[b, g, p, k] = X[b, 2 * g + p, k] - m[b, g]",
            "v[b, g] = sum(p < 2, k < N, d[b, g, p, k] * d[b, g, p, k]) / (2 * N)",
        ],
        {"M": 1, "C": 4, "N": 3},
        "M; 2",
    ),
    "layer_norm_backward": Meaning(
        NORMED | _arrays(ROWS, g="f32") | {"m": ("U", "f32", ["M"]), "r": ("R", "f32", ["M"])},
        "Y",
        ["Y[i, j] = R[i] * (W[j] * G[i, j] - sum(k, W[k] * G[i, k]) / N - z[i, j] * a[i])"],
        [
            "z[i, j] = (X[i, j] - U[i]) * R[i]",
            "a[i] = sum(k, W[k] * G[i, k] * z[i, k]) / N",
        ],
        {"M": 2, "N": 20},
    ),
}


def contract(file: str, sizes: Mapping[str, int] | None = None) -> str:
    """Return the contract of a kernel of the corpus, at sizes of its own or others."""
    facts = KERNELS[file]
    meaning = MEANINGS[facts["kernel"]]
    meaning = meaning._replace(sizes=sizes or meaning.sizes)
    grid = json.dumps(meaning.grid.split("; "))
    lines = ["[kernel]", 'isa = "ptx"', "[launch]", f"grid = {grid}", f"block = {facts['threads']}"]
    lines += [f"dynamic_shared = {facts['shared_bytes']}", "[sizes]"]
    lines += [f"{name} = {value}" for name, value in meaning.sizes.items()]
    for fact in facts["parameters"]:
        lines.append("[[param]]")
        if fact.endswith("_pointer"):
            name, fmt, shape = meaning.arrays[fact[0]]
            access = "out" if name in meaning.outputs else "in"
            lines += [f'name = "{name}"', f'type = "{fmt}"', f"shape = {json.dumps(shape)}"]
            lines.append(f'access = "{access}"')
            if name in meaning.values:
                lines.append(f"values = {meaning.values[name]}")
        elif fact.endswith("_scratch"):
            lines += [f'name = "{fact}"', 'type = "u64"', "value = 0"]
        elif fact in ("n", "parts"):
            lines += [f'name = "{fact}"', 'type = "s32"', f'value = "{"N" if fact == "n" else "P"}"']
        else:
            lines += [f'name = "{fact}"', 'type = "f32"', 'value = "any"']
    if meaning.requires:
        lines += ["[requires]", f"conditions = {json.dumps(meaning.requires)}"]
    ensures = [f"let = {json.dumps(meaning.let)}"] if meaning.let else []
    return "\n".join([*lines, "[ensures]", *ensures, f"formula = {json.dumps(meaning.formulas)}", ""])
