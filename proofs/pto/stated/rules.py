"""Who finds out that a rule on PTO's statements is not met, and which contradictions of documents it cites.

Sources: pto-isa headers and pages at 3186c381, ptoas at a56b18c3; contradictions by their numbers.
"""

from __future__ import annotations

from ...text_tables import rows

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

_KINDS = """
rule                | operations         | A2A3           | A5             | CPU            | cites
tile-extent         | all                | static         | static         | static         |
valid-extent        | all                | static         | static         | static         |
fractal-bytes       | all                | static         | static         | static         |
whole-blocks        | all                | static         | static         | static         | 20
buffer-range        | all                | silent         | silent         | silent         |
line-alignment      | all                | static         | static         | static         |
fractal-name        | all                | static         | static         | static         | 20
capacity            | all                | static         | static         | run-time       | 24
profile             | mx                 | static         | static         | static         | 23
operand-type        | all                | static         | static         | static         |
location            | products           | static         | static         | static         | 22
type-triple         | products           | static         | static         | static         | 12 13 14
mixed-fp8           | plain              |                | assembler-only |                | 28
static-shape        | matmul-plain       | assembler-only | assembler-only | static         | 7
static-shape        | matmul-mx          | assembler-only | assembler-only | page-only      | 7
static-shape        | gemv-plain         | page-only      | assembler-only | static         | 7
static-shape        | gemv-mx            | page-only      | assembler-only | page-only      | 7
contraction         | products           | silent         | silent         | silent         | 8 17
result-extent       | products           | silent         | silent         | silent         | 6 17
gemv-row            | gemv               | silent         | silent         | silent         | 9
size-range          | plain              | debug-only     | debug-only     | page-only      | 10 11 34
size-range          | mx                 | debug-only     | debug-only     | run-time       | 10 11 34
accumulator-type    | acc                | static         | static         | static         | 18
phase-value         | products           | static         | static         | static         | 19
phase-on-cpu        | tmatmul.acc        |                |                | static         | 19
left-inner          | products           | silent         | static         | static         | 20
left-blocks         | plain              | silent         | static         |                | 25 27
left-blocks         | mx                 | silent         | static         | static         | 25 27
right-layout        | products           | silent         | static         | static         | 20
accumulator-layout  | products           | silent         | static         | static         | 20
scale-layout        | products           |                | silent         |                | 29
fractal-size        | products           | silent         | silent         |                | 32
left-pitch          | products           | silent         | silent         |                | 21
right-pitch         | products           | silent         | silent         |                | 21
accumulator-pitch   | products           | silent         | silent         |                | 21
gemv-left           | gemv               | silent         | silent         |                |
matmul-left         | matmul             | silent         | silent         |                |
row-granule         | matmul             | silent         |                |                |
bias-type           | bias               | static         | static         | static         | 1
bias-rows           | bias               | static         | static         | static         | 2 26
bias-row-major      | tmatmul.bias       | page-only      | static         | static         | 4
bias-row-major      | tgemv.bias         | page-only      | assembler-only | static         | 4
bias-row-major      | tmatmul.mx.bias    | page-only      | assembler-only | static         | 4
bias-row-major      | tgemv.mx.bias      | page-only      | assembler-only | static         | 4
bias-columns        | bias               | silent         | silent         | silent         | 3
bias-width          | tmatmul.bias       | page-only      | page-only      | page-only      | 3
bias-width          | tmatmul.mx.bias    | page-only      | page-only      | page-only      | 3
bias-width          | tgemv.bias         | page-only      | page-only      | page-only      | 3
bias-width          | tgemv.mx.bias      | assembler-only | assembler-only | assembler-only | 3
scale-location      | mx                 |                | silent         |                | 35
scale-type          | mx                 |                | silent         | silent         | 29
scale-extent        | mx                 |                | silent         | silent         | 29
microscaled-columns | mx                 |                | static         | static         | 32
move-places         | tload              | static         | static         |                | 20 26
move-places         | tstore             | static         | static         |                | 20 26
move-places         | tmov               | static         | silent         |                | 20 26
move-places         | tinsert            | static         | silent         |                | 20 26
move-places         | textract           | silent         | silent         |                | 20 26
move-extent         | tmov               | static         | static         |                |
move-valid-rows     | tmov               |                |                | run-time       |
move-valid-columns  | tmov               |                |                | silent         |
move-source-layout  | tmov               | static         | static         |                |
move-source-layout  | textract           | static         | static         |                |
move-target-layout  | tmov               |                | static         |                | 25 27
move-target-layout  | textract           | static         | static         |                | 25 27
filled-order        | tmov               | silent         |                |                | 25 27
row-chunks          | tmov               | static         | static         |                |
row-chunks          | textract           | static         | static         |                |
bias-move           | tmov               | static         | static         |                |
scaling-move        | tmov               | static         | static         |                |
quantisation        | tmov               | static         | static         |                |
quantisation        | textract           | static         | static         |                |
quantisation        | tinsert            | static         | static         |                |
quantisation        | tstore             | static         | static         |                |
accumulator-to-mat  | tmov               | static         | static         |                |
accumulator-to-mat  | textract           | static         | static         |                |
accumulator-to-mat  | tinsert            | static         | static         |                |
extract-columns     | textract           |                | unspecified    |                |
accumulator-source  | tmov               | static         | static         |                |
accumulator-source  | textract           | static         | static         |                |
accumulator-source  | tinsert            | static         | static         |                |
extract-window      | textract           | debug-only     | debug-only     | run-time       |
insert-window       | tinsert            | debug-only     | debug-only     | silent         |
extract-alignment   | textract           | debug-only     | debug-only     |                |
move-types          | tload              | static         | static         | static         |
move-types          | tmov               | static         | static         |                |
move-types          | textract           | static         | static         |                |
move-types          | tinsert            | static         | static         |                |
move-types          | tstore             | static         | static         |                |
move-conversion     | moves              | unspecified    | unspecified    | unspecified    |
extract-types       | tmov               |                | static         |                |
extract-types       | textract           | static         | static         |                |
vec-size            | tmov               | static         | silent         |                |
view-extent         | tload              | silent         | silent         | silent         |
view-extent         | tstore             | silent         | silent         | silent         |
load-layout         | tload              | static         | static         |                |
load-dimensions     | tload              | static         | static         |                |
store-layout        | tstore             | static         | static         |                |
store-extent        | tstore             | static         | static         |                |
address-capacity    | all                | static         | static         | run-time       |
address-range       | all                | static         | static         | run-time       | 5
address-alignment   | all                | static         | static         |                |
"""

KINDS = {
    (row["rule"], operation, profile): row[profile]
    for row in rows(_KINDS)
    for operation in _GROUPS.get(row["operations"], (row["operations"],))
    for profile in ("A2A3", "A5", "CPU")
    if row[profile]
}
"""Who finds out that a rule is not met, by rule, operation and profile; absent where it does not hold."""

CITED = {row["rule"]: tuple(map(int, row["cites"].split())) for row in rows(_KINDS)}
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
