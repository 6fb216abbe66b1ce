"""PTO's products, moves, buffers and tiles, as the headers decide them, and who finds a broken rule.

Sources: pto-isa headers at 3186c381 (TMatmul.hpp and CheckStaticMad of each profile, pto_tile.hpp, TASSIGN,
buffer sizes); ptoas at a56b18c3; pages for what no header checks.

Sources: pto-isa headers at 3186c381: TLOAD, TMOV, TEXTRACT, TINSERT, TSTORE of each profile,
CheckTMovAccToMat of A2A3, CheckTMovAccValid of A5, CheckAcc2gm, CheckStaticAcc, TMovToBt, CheckTExtract.

Sources: pto-isa headers and pages at 3186c381, ptoas at a56b18c3; contradictions by their numbers.
"""

from __future__ import annotations

from ...text_tables import table

PROFILES = ("A2A3", "A5", "CPU")


TRIPLES = frozenset(
    (profile, column, row["C"], row["A"], row["B"])
    for row in table(__package__, "triples")
    for column in ("plain", "mx")
    for profile in row[column].split()
)
"""Profile, product without or with scale factors, element types of the accumulator, A and B."""

FACTORS = ("i4", "i8", "ui8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2",
           "f4E1M2x2", "f8E8M0FNU")  # fmt: skip
ACCUMULATORS = ("i32", "f32", "f16")


CAPACITIES = {
    (profile, row["location"]): int(row[profile])
    for row in table(__package__, "bytes")
    for profile in PROFILES
}
"""Bytes of every buffer; the simulator's bias table and fixpipe buffer lie in its vector buffer."""


BLOCKS = {
    (int(row["fractal"]), row["inner"], width): tuple(map(int, row[width].split("x")))
    for row in table(__package__, "blocks")
    for width in ("4 bytes", "2 bytes", "1 byte")
}
"""Rows and columns of a block."""


ALIASES = {
    (profile, row["location"]): (row["blocks"], row["inner"], int(row["fractal"]), row["name"])
    for row in table(__package__, "aliases")
    for profile in row["profiles"].split()
}
"""Order of the blocks, order inside, bytes of a block, and name of the predefined tiles."""


OFFSETS = table(__package__, "offsets")
"""Where elements lie in a buffer, computed by hand from the headers' formulas."""


SIZES = {
    (row["operations"], profile): (row["m"], row["k"], row["n"])
    for row in table(__package__, "sizes")
    for profile in row["profiles"].split()
}
"""Where the sizes of a product come from."""


EXTENTS = {row["operand"]: (row["rows"], row["columns"]) for row in table(__package__, "extents")}
"""Rows and columns of the operands of a product; one scale factor belongs to 32 elements or fewer of K."""


PLACES = ("vec", "mat", "left", "right", "acc", "bias", "scaling", "scale_left", "scale_right")


ROUTES = frozenset(
    (row["operation"], row["from"], target, profile)
    for row in table(__package__, "routes")
    for target in row["to"].split()
    for profile in row["profiles"].split()
)
"""Operation, where from, where to (a boxed tile), profile. The simulator moves from anywhere to anywhere.

The assembler has one keyword for the buffers of scale factors: a boxed tile in scaling is one of those of a
microscaled product, which A5's textract fills.
"""

ELEMENTS = (
    "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "i4", "f16", "bf16", "f32", "f8E4M3FN",
    "f8E5M2", "hif8", "f4E2M1x2", "f4E1M2x2", "f8E8M0FNU",
)  # fmt: skip


FROM_ACCUMULATOR = frozenset(
    (row["to"], row["quantised"] == "yes", row["from"], target, profile)
    for row in table(__package__, "from_accumulator")
    for profile in ("A2A3", "A5")
    for target in row[profile].split()
)
"""To a buffer or to memory, with a quantisation or not, from, to, profile."""


TO_BIAS = frozenset(
    (row["from"], row["to"], profile)
    for row in table(__package__, "to_bias")
    for profile in row["profiles"].split()
)
"""From, to, profile."""

EXTRACTED = {
    "A2A3": frozenset(("i8", "f16", "bf16", "f32")),
    "A5": frozenset(("i8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2", "f4E1M2x2",
                     "f8E8M0FNU")),
}  # fmt: skip
"""The element types that textract has, and on A5 tmov out of mat and from vec to mat."""

IN_VEC = frozenset(("i32",))
"""What textract has besides from vec to vec."""

BYTES = {
    1: ("i8", "ui8", "i4", "f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2", "f4E1M2x2", "f8E8M0FNU"),
    2: ("i16", "ui16", "f16", "bf16"),
    4: ("i32", "ui32", "f32"),
    8: ("i64", "ui64"),
}
"""Bytes of a unit of storage; of 4-bit types it holds two elements."""


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
