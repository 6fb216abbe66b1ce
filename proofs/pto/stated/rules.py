"""Who finds out that a rule on PTO's statements is not met, and which contradictions of documents it cites.

Sources: pto-isa headers and pages at 3186c381, ptoas at a56b18c3; contradictions by their numbers.
"""

from __future__ import annotations

from ...text_tables import table

_FORMS = ("", ".acc", ".bias", ".mx", ".mx.acc", ".mx.bias")
_MATMUL = tuple(f"tmatmul{form}" for form in _FORMS)
_GEMV = tuple(f"tgemv{form}" for form in _FORMS)
_PRODUCTS = _MATMUL + _GEMV
_MOVES = ("tload", "tmov", "textract", "tinsert", "tstore")

OPERATIONS = _PRODUCTS + _MOVES

_GROUPS = {
    "all": OPERATIONS,
    "products": _PRODUCTS,
    "matmul": _MATMUL,
    "gemv": _GEMV,
    "plain": tuple(name for name in _PRODUCTS if ".mx" not in name),
    "mx": tuple(name for name in _PRODUCTS if ".mx" in name),
    "matmul-plain": _MATMUL[:3],
    "matmul-mx": _MATMUL[3:],
    "gemv-plain": _GEMV[:3],
    "gemv-mx": _GEMV[3:],
    "acc": tuple(name for name in _PRODUCTS if name.endswith(".acc")),
    "bias": tuple(name for name in _PRODUCTS if name.endswith(".bias")),
    "moves": _MOVES,
}


KINDS = {
    (row["rule"], operation, profile): row[profile]
    for row in table(__package__, "kinds")
    for operation in _GROUPS.get(row["operations"], (row["operations"],))
    for profile in ("A2A3", "A5", "CPU")
    if row[profile]
}
"""Who finds out that a rule is not met, by rule, operation and profile; absent where it does not hold."""

CITED = {row["rule"]: tuple(map(int, row["cites"].split())) for row in table(__package__, "kinds")}
"""The contradictions that a rule cites."""

FORBIDDING = ("static", "run-time", "debug-only", "silent")
"""Kinds of rules that make a statement illegal; the headers take what the other kinds object to."""


PHASES = {
    "#pto.acc_phase<unspecified>": True, "#pto.acc_phase<unknown>": True, "#pto.acc_phase<partial>": True,
    "#pto.acc_phase<final>": True, "#pto<acc_phase final>": True, "#pto<acc_phase partial>": True,
    "#pto.acc_phase<first>": False, "#pto.acc_phase<Final>": False, "#pto.acc_phase<finals>": False,
    "#pto.phase<final>": False, "final": False, "3": False,
}  # fmt: skip
"""Values of ``accPhase``, and whether there are such ones: pto-isa headers, AccPhase; PTO IR manual."""

ORDERED = {
    ("ColMajor", "RowMajor"): "NZ", ("RowMajor", "ColMajor"): "ZN", ("RowMajor", "RowMajor"): "ZZ",
    ("ColMajor", "ColMajor"): "NN", ("RowMajor", "NoneBox"): "ND", ("ColMajor", "NoneBox"): "DN",
}  # fmt: skip
"""What the layout page calls the orders of blocks and inside them."""
