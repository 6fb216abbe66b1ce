"""Compile rows.py and variants.py to the PTX files beside them, with triton 3.9 (no GPU, no torch).

``python generate.py`` compiles all, ``python generate.py softmax rotary`` these.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = Path(__file__).parent
SOURCES = {name: (HERE / name).read_text(encoding="utf-8") for name in ("rows.py", "variants.py")}
ROWS = {"BLOCK": 64}
ATTENTION = {"HEAD": 16, "TILE_M": 16, "TILE_N": 16}
HEADS = {"HEAD": 16, "TILE": 16}
F32, F16, I32 = "*fp32", "*fp16", "*i32"
QKV = {"q_pointer": F16, "k_pointer": F16, "v_pointer": F16}
SCALED = {"o_pointer": F32, "n": "i32", "scale": "fp32"}

KERNELS: dict[str, tuple[dict[str, str], dict[str, Any], dict[str, tuple[str, str]]]] = {
    "softmax": (
        {"x_pointer": F32, "y_pointer": F32, "n": "i32"},
        ROWS,
        {
            "total_of_x": ("tl.sum(e, axis=0)", "tl.sum(x, axis=0)"),
            "mask_fill": ('other=-float("inf")', "other=0.0"),
            "mask_short": ("mask = columns < n", "mask = columns < n - 1"),
            "base": ("tl.exp(x -", "tl.exp2(x -"),
        },
    ),
    "rms_norm": (
        {"x_pointer": F32, "w_pointer": F32, "y_pointer": F32, "n": "i32", "epsilon": "fp32"},
        ROWS,
        {
            "epsilon_outside": ("tl.rsqrt(tl.sum(x * x, axis=0) / n + epsilon)",
                                "1 / (tl.sqrt(tl.sum(x * x, axis=0) / n) + epsilon)"),
            "sum_not_mean": ("axis=0) / n + epsilon", "axis=0) + epsilon"),
            "not_squared": ("tl.sum(x * x", "tl.sum(x"),
        },
    ),
    "layer_norm": (
        {"x_pointer": F32, "w_pointer": F32, "b_pointer": F32, "y_pointer": F32, "n": "i32",
         "epsilon": "fp32"},
        ROWS,
        {
            "padding_counted": ("tl.where(mask, x - mean, 0.0)", "x - mean"),
            "mean_of_block": ("mean = tl.sum(x, axis=0) / n", "mean = tl.sum(x, axis=0) / BLOCK"),
            "epsilon_outside": ("tl.sqrt(tl.sum(centred * centred, axis=0) / n + epsilon)",
                                "(tl.sqrt(tl.sum(centred * centred, axis=0) / n) + epsilon)"),
        },
    ),
    "swiglu": (
        {"a_pointer": F16, "b_pointer": F16, "y_pointer": F16, "n": "i32"},
        ROWS,
        {"not_gated": ("a * tl.sigmoid(a) * b", "tl.sigmoid(a) * b"),
         "other_gate": ("a * tl.sigmoid(a) * b", "a * tl.sigmoid(b) * b"),
         "sign": ("a * tl.sigmoid(a) * b", "a * tl.sigmoid(-a) * b")},
    ),
    "geglu": (
        {"a_pointer": F16, "b_pointer": F16, "y_pointer": F16, "n": "i32"},
        ROWS,
        {"not_cubed": ("a * a * a", "a * a"), "half": ("2 * inner", "inner"),
         "gate_of_b": ("(2 * inner) * b", "(2 * inner) * a")},
    ),
    "attention": (
        {"q_pointer": F16, "k_pointer": F16, "v_pointer": F16, "o_pointer": F32, "n": "i32", "scale": "fp32"},
        {**ATTENTION, "CAUSAL": False},
        {
            "sums_not_rescaled": ("sums = sums * shrink[:, None]", "sums = sums"),
            "total_not_rescaled": ("total * shrink +", "total +"),
            "maximum_of_tile": ("p = tl.exp(s - new[:, None])", "p = tl.exp(s - tl.max(s, 1)[:, None])"),
        },
    ),
    "causal_attention": (
        {"q_pointer": F16, "k_pointer": F16, "v_pointer": F16, "o_pointer": F32, "n": "i32", "scale": "fp32"},
        {**ATTENTION, "CAUSAL": True},
        {"mask_off_by_one": ("rows[:, None] >= keys", "rows[:, None] + 1 >= keys"),
         "mask_transposed": ("rows[:, None] >= keys", "rows[:, None] <= keys"),
         "mask_zero": ('s, -float("inf"))', "s, 0.0)")},
    ),
    "wide_attention": (
        {"q_pointer": F16, "k_pointer": F16, "v_pointer": F16, "o_pointer": F32, "n": "i32", "scale": "fp32"},
        {"HEAD": 128, "TILE_M": 16, "TILE_N": 16, "CAUSAL": False},
        {"total_not_rescaled": ("total * shrink +", "total +"),
         "transposed_values": ("v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :])",
                               "v = tl.load(v_pointer + (keys[:, None] ^ 1) * HEAD + inner[None, :])"),
         "rescaled_twice": ("total * shrink +", "total * shrink * shrink +")},
    ),
    "log_softmax": (
        {"x_pointer": F32, "y_pointer": F32, "n": "i32"},
        ROWS,
        {"maximum_twice": ("centred - libdevice", "centred - tl.max(x, axis=0) - libdevice"),
         "total_of_x": ("tl.sum(tl.exp(centred), axis=0)", "tl.sum(tl.exp(x), axis=0)"),
         "base": ("libdevice.fast_logf(total)", "libdevice.fast_log2f(total)")},
    ),
    "cross_entropy": (
        {"x_pointer": F32, "t_pointer": "*i32", "y_pointer": F32, "n": "i32"},
        ROWS,
        {"maximum_left_out": ("(total) + most - chosen", "(total) - chosen"),
         "class_of_next_row": ("tl.load(t_pointer + row)", "tl.load(t_pointer + 1 - row)"),
         "sign": ("(total) + most - chosen", "(total) + most + chosen")},
    ),
    "softmax_backward": (
        {"y_pointer": F32, "g_pointer": F32, "x_pointer": F32, "n": "i32"},
        ROWS,
        {"not_along": ("y * (g - along)", "y * g"),
         "along_of_g": ("tl.sum(y * g", "tl.sum(g"),
         "mask_fill": ("columns, mask=mask, other=0.0)\n    g", "columns)\n    g")},
    ),
    "rotary": (
        {"x_pointer": F16, "c_pointer": F32, "s_pointer": F32, "y_pointer": F16, "n": "i32"},
        ROWS,
        {"direction": ("a * c - b * s, mask=mask)\n    tl.store(turned + n, b * c + a * s",
                       "a * c + b * s, mask=mask)\n    tl.store(turned + n, b * c - a * s"),
         "interleaved": ("first + n,", "first + 1,"),
         "row_of_angles": ("c_pointer + row * n", "c_pointer")},
    ),
    "rotary_angles": (
        {"x_pointer": F16, "f_pointer": F32, "y_pointer": F16, "n": "i32"},
        ROWS,
        {"next_row": ("row.to(tl.float32) *", "(row + 1).to(tl.float32) *"),
         "sine_twice": ("fast_cosf", "fast_sinf"),
         "half_angle": ("row.to(tl.float32) *", "0.5 * row.to(tl.float32) *")},
    ),
    "two_pass_attention": (
        {"q_pointer": F16, "k_pointer": F16, "v_pointer": F16, "o_pointer": F32, "n": "i32", "scale": "fp32"},
        ATTENTION,
        {"not_scaled": ("p = tl.exp(tl.dot(q, k) * scale -", "p = tl.exp(tl.dot(q, k) -"),
         "last_tile_left_out": ("most[:, None])\n        total += tl.sum(p, 1)",
                                "most[:, None])\n        total += tl.sum(p, 1) * (start + TILE_N < n)"),
         "values_of_first_tile": ("v = tl.load(v_pointer + keys[:, None]",
                                  "v = tl.load(v_pointer + (keys - start)[:, None]")},
    ),
    "ragged_attention": (
        {"q_pointer": F16, "k_pointer": F16, "v_pointer": F16, "o_pointer": F32, "n": "i32", "scale": "fp32"},
        {"HEAD": 64, "TILE_M": 16, "TILE_N": 16},
        {"mask_left_out": ("tl.where(keys[None, :] < n, tl.dot(q, k) * factor, -float(\"inf\"))",
                           "tl.dot(q, k) * factor"),
         "mask_one_more": ("tl.where(keys[None, :] < n,", "tl.where(keys[None, :] <= n,"),
         "base": ("scale * 1.44269504", "scale")},
    ),
    "attention_backward": (
        {"q_pointer": F16, "k_pointer": F16, "v_pointer": F16, "g_pointer": F16, "l_pointer": F32,
         "d_pointer": F32, "x_pointer": F32, "y_pointer": F32, "z_pointer": F32, "n": "i32", "scale": "fp32"},
        {"HEAD": 16, "TILE": 16},
        {"not_scaled": ("- along[:, None]) * scale", "- along[:, None])"),
         "sum_not_subtracted": ("(tl.dot(g, tl.trans(v)) - tl.load(d_pointer + rows)[:, None])",
                                "tl.dot(g, tl.trans(v))"),
         "logarithms_of_keys": ("tl.load(l_pointer + rows)[:, None]", "tl.load(l_pointer + here)[None, :]")},
    ),
    "combined_attention": (
        {"o_pointer": F32, "l_pointer": F32, "y_pointer": F32, "parts": "i32"},
        {"HEAD": 16, "PARTS": 4},
        {"mean": ("tl.sum(weight, axis=0)", "parts"),
         "not_weighted": ("o * weight[:, None]", "o"),
         "mask_fill": ('other=-float("inf"))\n    weight', "other=0.0)\n    weight")},
    ),
    "add_rms_norm": (
        {"x_pointer": F16, "r_pointer": F16, "w_pointer": F32, "y_pointer": F16, "z_pointer": F16, "n": "i32",
         "epsilon": "fp32"},
        ROWS,
        {"norm_of_x": ("tl.sum(added * added", "tl.sum(x * x"),
         "sum_not_normed": ("added * root * w", "x * root * w"),
         "epsilon_outside": ("tl.rsqrt(tl.sum(added * added, axis=0) / n + epsilon)",
                             "(tl.rsqrt(tl.sum(added * added, axis=0) / n) + epsilon)")},
    ),
    "rms_norm_backward": (
        {"x_pointer": F32, "w_pointer": F32, "g_pointer": F32, "d_pointer": F32, "n": "i32",
         "epsilon": "fp32"},
        ROWS,
        {"root_squared": ("root * root * root / n", "root * root / n"),
         "not_weighted": ("tl.sum(g * w * x", "tl.sum(g * x"),
         "not_a_mean": ("root * root * root / n", "root * root * root")},
    ),
    "online_softmax": (
        {"x_pointer": F32, "y_pointer": F32, "n": "i32"},
        {"ROWS": 4, "BLOCK": 32},
        {"not_rescaled": ("total * tl.exp(most - new) +", "total +"),
         "maximum_of_block": ("(most, tl.max(x, 1))\n        total = total * tl.exp(most - new)",
                              "(tl.max(x, 1), tl.max(x, 1))\n        total = total"),
         "mask_fill": ('None, :], other=-float("inf"))\n        new', "None, :], other=0.0)\n        new")},
    ),
    "kl_divergence": (
        {"x_pointer": F32, "z_pointer": F32, "y_pointer": F32, "n": "i32"},
        ROWS,
        {"direction": ("tl.exp(q) * (q - p)", "tl.exp(p) * (q - p)"),
         "sum_of_z": ("tl.log(tl.sum(tl.exp(of_x), 0))", "tl.log(tl.sum(tl.exp(of_z), 0))"),
         "not_normed": ("q = of_z - tl.log(tl.sum(tl.exp(of_z), 0))", "q = of_z")},
    ),
    "swiglu_backward": (
        {"a_pointer": F16, "b_pointer": F16, "g_pointer": F16, "x_pointer": F32, "y_pointer": F32,
         "n": "i32"},
        ROWS,
        {"derivative_of_gate": ("gate + a * gate * (1 - gate)", "gate * (1 - gate)"),
         "sign": ("a * gate * (1 - gate)", "a * gate * (1 + gate)"),
         "gate_left_out": ("g * a * gate", "g * a")},
    ),
    "awq_weights": (
        {"w_pointer": "*i32", "z_pointer": "*i32", "s_pointer": F32, "y_pointer": F32, "n": "i32"},
        {"GROUP": 4, "BLOCK": 32},
        {"order_of_gptq": ("((columns % 8) // 2 + (columns % 2) * 4) * 4", "(columns % 8) * 4"),
         "zero_after_scaling": ("weight = ((word >> shift) & 0xF) - ((zero >> shift) & 0xF)",
                                "weight = ((word >> shift) & 0xF)"),
         "zero_of_the_next_group": ("z_pointer + (row // GROUP)", "z_pointer + (1 - row // GROUP)")},
    ),
    "gptq_weights": (
        {"w_pointer": "*i32", "z_pointer": "*i32", "s_pointer": F32, "y_pointer": F32, "n": "i32"},
        {"GROUP": 4, "BLOCK": 32},
        {"zero_not_raised": ("& 0xF) + 1", "& 0xF)"),
         "nibbles_in_reverse": ("word >> ((row % 8) * 4)", "word >> (28 - (row % 8) * 4)"),
         "scale_of_the_first_group": ("s_pointer + (row // GROUP) * n", "s_pointer")},
    ),
    "masked_attention": (
        {**QKV, **SCALED},
        HEADS,
        {"mask_off_by_one": ("mask = rows[:, None] >= keys", "mask = rows[:, None] + 1 >= keys"),
         "mask_exchanged": ("tl.where(mask, 0, -1.0e6)", "tl.where(mask, -1.0e6, 0)"),
         "mask_too_small": ("tl.where(mask, 0, -1.0e6)", "tl.where(mask, 0, -1.0)"),
         "total_not_rescaled": ("total = total * shrink + tl.sum(p, 1)\n",
                                "total = total + tl.sum(p, 1)\n"),
         "base": ("factor = scale * 1.44269504\n    for start in range(0, first",
                  "factor = scale\n    for start in range(0, first")},
    ),
    "grouped_attention": (
        {**QKV, "o_pointer": F16, "l_pointer": F32, "n": "i32", "scale": "fp32"},
        {**HEADS, "GROUP": 2},
        {"keys_of_the_other_group": ("head // GROUP * n", "head % GROUP * n"),
         "mask_one_more": ("(rows[:, None] >= keys[None, :]) & inside",
                           "(rows[:, None] + 1 >= keys[None, :]) & inside"),
         "logarithm_of_base_2": ("most + tl.log(total)", "most + tl.log2(total)")},
    ),
    "window_attention": (
        {**QKV, **SCALED},
        {**HEADS, "WINDOW": 20},
        {"one_more": ("distance < WINDOW", "distance <= WINDOW"),
         "first_tile_left_out": ("(first - WINDOW + 1) // TILE * TILE", "(first - TILE)"),
         "what_follows_not_masked": ("(distance >= 0) & (distance < WINDOW)", "distance < WINDOW")},
    ),
    "sloped_attention": (
        {**QKV, "a_pointer": F32, **SCALED},
        HEADS,
        {"sign": ("- slope * (rows", "+ slope * (rows"),
         "slope_of_the_other_head": ("a_pointer + head", "a_pointer + 1 - head"),
         "scaled_too": ("* scale - slope * (rows[:, None] - keys[None, :]).to(tl.float32)",
                        "* scale - scale * slope * (rows[:, None] - keys[None, :]).to(tl.float32)")},
    ),
    "capped_attention": (
        {**QKV, **SCALED},
        HEADS,
        {"half_the_argument": ("tl.sigmoid(2 * x)", "tl.sigmoid(x)"),
         "not_scaled": ("x = tl.dot(q, k) * scale / 30.0", "x = tl.dot(q, k) / 30.0"),
         "mask_one_more": ("tl.where(rows[:, None] >= keys", "tl.where(rows[:, None] + 1 >= keys")},
    ),
    "sink_attention": (
        {**QKV, "z_pointer": F16, **SCALED},
        HEADS,
        {"maximum_not_subtracted": ("tl.exp(sink - most)", "tl.exp(sink)"),
         "left_out": ("total += tl.exp(sink - most)", "total += tl.exp(sink - most) * 0.0"),
         "scaled_too": ("tl.exp(sink - most)", "tl.exp(sink * scale - most)")},
    ),
    "paged_attention": (
        {**QKV, "t_pointer": I32, "c_pointer": I32, **SCALED},
        {"HEAD": 16, "PAGE": 8},
        {"table_of_the_first_row": ("t_pointer + row * n + page", "t_pointer + page"),
         "keys_behind_the_last": ("page * PAGE + keys < count", "page * PAGE + keys < count + 1"),
         "not_scaled": ("to(tl.float32) * scale\n    most = -float", "to(tl.float32)\n    most = -float")},
    ),
    "smoothed_cross_entropy": (
        {"x_pointer": F32, "t_pointer": I32, "y_pointer": F32, "n": "i32"},
        ROWS,
        {"padding_counted": ("tl.where(mask, x, 0.0)", "x"),
         "sum_for_mean": ("0.1 * every / n", "0.1 * every"),
         "maximum_left_out": ("most + tl.log(tl.sum(tl.exp(x - most)", "tl.log(tl.sum(tl.exp(x - most)"),
         "ignored_class_counted": ("label == -100", "label == -1")},
    ),
    "cross_entropy_backward": (
        {"x_pointer": F32, "t_pointer": I32, "g_pointer": F32, "y_pointer": F32, "n": "i32"},
        ROWS,
        {"class_of_the_next_row": ("tl.load(t_pointer + row)\n    e",
                                   "tl.load(t_pointer + 1 - row)\n    e"),
         "one_not_weighted": ("tl.load(g_pointer + row) * (p - one)", "tl.load(g_pointer + row) * p - one"),
         "not_normed": ("p = e / tl.sum(e, axis=0)", "p = e")},
    ),
    "group_norm": (
        {"x_pointer": F32, "w_pointer": F32, "b_pointer": F32, "y_pointer": F32, "n": "i32"},
        {"CHANNELS": 4, "GROUP": 2, "BLOCK": 32},
        {"mean_of_a_channel": ("mean = tl.sum(x, axis=0) / (GROUP * n)", "mean = tl.sum(x, axis=0) / n"),
         "mean_not_squared": ("- mean * mean", "- mean"),
         "weight_of_the_group": ("group * GROUP + elements // n", "group + elements // n"),
         "next_group": ("CHANNELS + group * GROUP) * n", "CHANNELS + (1 - group) * GROUP) * n")},
    ),
    "layer_norm_backward": (
        {"x_pointer": F32, "w_pointer": F32, "g_pointer": F32, "m_pointer": F32, "r_pointer": F32,
         "y_pointer": F32, "n": "i32"},
        ROWS,
        {"not_weighted": ("tl.sum(normed * w * g", "tl.sum(normed * g"),
         "mean_left_out": ("normed * along + mean", "normed * along"),
         "sum_for_mean": ("axis=0) / n\n    mean", "axis=0)\n    mean")},
    ),
}  # fmt: skip
"""By name: parameters, constants, and faults as replacements in the source."""

EDITS: dict[str, dict[str, tuple[str, str]]] = {
    "softmax": {"multiplied": ("e / tl.sum(e, axis=0)", "e * (1 / tl.sum(e, axis=0))")},
    "rms_norm": {"weight_first": ("x * scale * w", "w * (scale * x)")},
    "layer_norm": {"distributed": ("centred * scale * w + b", "x * (scale * w) + (b - mean * scale * w)")},
    "swiglu": {"divided": ("a * tl.sigmoid(a) * b", "a * b / (1 + tl.exp(-a))")},
    "attention": {"base_2": ("p = tl.exp(s - new[:, None])", "p = tl.exp2((s - new[:, None]) * 1.44269504)")},
    "causal_attention": {"other_way": ("rows[:, None] >= keys", "rows[:, None] + 1 > keys")},
    "rotary": {"negated": ("a * c - b * s, mask", "a * c + b * -s, mask")},
    "softmax_backward": {"distributed": ("y * (g - along)", "y * g - along * y")},
    "add_rms_norm": {"divided": ("tl.rsqrt(tl.sum(added * added, axis=0) / n + epsilon)",
                                 "1 / tl.sqrt(tl.sum(added * added, axis=0) / n + epsilon)")},
    "rms_norm_backward": {"factored": ("root * g * w - root * root * root / n * along * x",
                                       "root * (g * w - x * (root * root) * (along / n))")},
    "online_softmax": {"base_2": ("total * tl.exp(most - new)",
                                  "total * tl.exp2((most - new) * 1.44269504)")},
    "kl_divergence": {"distributed": ("tl.exp(q) * (q - p)", "tl.exp(q) * q - p * tl.exp(q)")},
    "swiglu_backward": {"factored": ("gate + a * gate * (1 - gate)", "gate * (1 + a * (1 - gate))")},
    "awq_weights": {"scaled_apart": ("weight * scale",
                                     "((word >> shift) & 0xF) * scale - ((zero >> shift) & 0xF) * scale")},
    "gptq_weights": {"in_floats": ("(weight - point).to(tl.float32)",
                                   "(weight.to(tl.float32) - point.to(tl.float32))")},
    "masked_attention": {
        "fill_of_half": ("tl.where(mask, 0, -1.0e6)", "tl.where(mask, 0, -65504.0)"),
        "filled": ("tl.dot(q, k) * factor + tl.where(mask, 0, -1.0e6)",
                   "tl.where(mask, tl.dot(q, k) * factor, -3.0e38)"),
    },
    "sloped_attention": {"shifted": ("- slope * (rows[:, None] - keys[None, :])", "+ slope * keys[None, :]")},
    "capped_attention": {"quotient": (
        "s = 30.0 * (2 * tl.sigmoid(2 * x) - 1)",
        "s = 30.0 * (tl.exp(x) - tl.exp(-x)) / (tl.exp(x) + tl.exp(-x))",
    )},
    "sink_attention": {"first": ("total += tl.exp(sink - most)",
                                 "total = total + 1 / tl.exp(most - sink)")},
    "group_norm": {"centred": ("squares = tl.sum(x * x, axis=0) / (GROUP * n) - mean * mean",
                               "centred = tl.where(mask, x - mean, 0.0)\n"
                               "    squares = tl.sum(centred * centred, axis=0) / (GROUP * n)")},
    "cross_entropy_backward": {"distributed": (
        "tl.load(g_pointer + row) * (p - one)",
        "p * tl.load(g_pointer + row) - tl.load(g_pointer + row) * one",
    )},
}  # fmt: skip
"""Replacements that change nothing over the reals."""


def _function(name: str) -> str:
    return name.removeprefix("causal_").removeprefix("wide_")


def source_of(name: str) -> str:
    """Return the file that a kernel stands in."""
    return next(file for file, text in SOURCES.items() if f"def {_function(name)}(" in text)


def compiled(name: str, text: str, signature: dict[str, str], constants: dict[str, Any]) -> Any:
    """Return a kernel that Triton compiled from a text."""
    file = str(HERE / source_of(name))
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"__name__": "rows"}
    exec(compile(text, file, "exec"), scope)
    function = scope[_function(name)]
    attributes = {
        (i,): [["tt.divisibility", 16]] for i, each in enumerate(signature.values()) if each[0] == "*"
    }
    whole = {**signature, **dict.fromkeys(constants, "constexpr")}
    warps = 2 if constants == ROWS else 1
    return triton.compile(
        ASTSource(function, whole, constexprs=constants, attrs=attributes),
        target=GPUTarget("cuda", 80, 32),
        options={"num_warps": warps, "num_stages": 2},
    )


def main() -> None:
    chosen = sys.argv[1:] or list(KERNELS)
    kept = json.loads((HERE / "kernels.json").read_text(encoding="utf-8")) if sys.argv[1:] else {}
    facts: dict[str, Any] = {file: each for file, each in kept.items() if each["kernel"] not in chosen}
    for name in chosen:
        (signature, constants, faults), source = KERNELS[name], SOURCES[source_of(name)]
        edits = EDITS.get(name, {})
        for label, (old, new) in {"": ("", ""), **faults, **edits}.items():
            assert old in source, (name, label)
            sort = "edit" if label in edits else "fault"
            kernel = compiled(name, source.replace(old, new) if old else source, signature, constants)
            file = f"{name}{f'_{sort}_{label}' if label else ''}.ptx"
            text = kernel.asm["ptx"].replace(str(HERE) + "/", "").replace(str(HERE), ".")
            text = text.replace(str(Path(triton.__file__).parent), "triton")
            (HERE / file).write_text(text, encoding="utf-8")
            facts[file] = {
                "kernel": name, "fault": label if label in faults else None,
                "edit": label if label in edits else None, "shared_bytes": kernel.metadata.shared,
                "threads": 32 * kernel.metadata.num_warps,
                "parameters": [*signature, "global_scratch", "profile_scratch"],
                "entry": kernel.metadata.name, "target": f"sm_{kernel.metadata.target.arch}",
            }  # fmt: skip
    (HERE / "kernels.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
