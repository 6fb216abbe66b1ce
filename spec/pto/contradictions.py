"""Where the PTO pages, the headers, the assembler and the simulator contradict each other, and themselves.

Numbered in the order in which they were found. "Header" is pto-isa at 3186c381, "ptoas" the assembler at
a56b18c3, "pages" the instruction pages of pto-isa, "older pages" another rendering of those on
``tmatmul_bias`` and ``tgemv``. The project's own rule decides where nothing else does: headers before ptoas
before pages.
"""

from __future__ import annotations

from ..legality import Contradiction

_READ = "pages and header read"
_COMPILED = "compiled with the simulator's headers"
_HEADER_WINS = "the headers decide"


def _point(number: int, name: str, side: str, source: str, *claims: tuple[str, str]) -> Contradiction:
    return Contradiction(f"{number:02}-{name}", claims, side, source)


CONTRADICTIONS = (
    _point(
        1, "bias-type", "illegal: the bias has the accumulator's type", f"{_COMPILED}: rejected",
        ("older pages, examples", "a half bias for a float accumulator"),
        ("headers of every profile; ptoas", "Bias.DType == Acc.DType, asserted"),
    ),
    _point(
        2, "bias-broadcast", "one bias row, added to each of the m rows", _READ,
        ("older page tmatmul_bias, profiles", "broadcast along M=1 rows, no other configuration"),
        ("the same page; headers", "broadcast over all m rows"),
    ),
    _point(
        3, "bias-columns", "a bias of fewer valid columns than n is illegal, a longer one is not", _READ,
        ("older page tmatmul_bias", "exactly N columns"),
        ("headers", "no check: a short bias is read past its end, a long one not to its end"),
    ),
    _point(
        4, "bias-row-major", f"{_HEADER_WINS}, by profile and instruction; a single row has one order", _READ,
        ("older page tmatmul_bias", "row-major on A5, no rule on A2A3"),
        ("headers", "A5 checks tmatmul.bias, not tgemv.bias; CPU checks always"),
    ),
    _point(
        5, "bias-address", "illegal: the tile is outside its buffer",
        f"{_READ}; the capacities are the headers'",
        ("older pages, examples", "TASSIGN(bias, 0x3000)"),
        ("headers", "the bias table has 1 KiB (A2A3) or 4 KiB (A5); TASSIGN<0x3000> rejects it"),
        ("headers, TASSIGN with a run-time address", "nothing is checked"),
    ),
    _point(
        6, "iteration-domain", "m, k and n come from the sources", _HEADER_WINS,
        ("older pages, Inputs", "the operation iterates over dst's valid region"),
        ("older pages, Mechanism; headers", "m, k and n are valid extents of a and b"),
    ),
    _point(
        7, "static-shapes", "checked on CPU; on A2A3 and A5 only remarked upon",
        "headers read; pypto pull request 2185 multiplies a one-row Left into a 16-row Acc on A2A3",
        ("older page tgemv; flat page of tmatmul", "Left.Rows == Acc.Rows, … are checked on A2A3 and A5"),
        ("headers of A2A3 and A5", "no such check"),
        ("header of CPU", "asserted, but not for mx"),
        ("ptoas", "asserted for tmatmul, for tgemv on A5 only"),
    ),
    _point(
        8, "gemv-k", "k as the profile's header takes it; valid extents of a and b that differ are illegal",
        _HEADER_WINS,
        ("older page tgemv; headers of A2A3 and A5", "K is B.ValidRow"),
        ("header of CPU; tgemv.mx on A5", "k is A.ValidCol"),
        ("older page tgemv", "ties the physical Left.Cols to Right.Rows, not the valid extents"),
    ),
    _point(
        9, "gemv-m", "illegal where it is known that m is not 1", _READ,
        ("older page tgemv", "run-time check: m must be 1"),
        ("ptoas", "the static valid row of lhs and dst must be 1"),
        ("headers of A2A3 and A5", "no check: A.ValidRow is ignored, m is 1"),
        ("header of CPU", "no check: all A.ValidRow rows are computed"),
    ),
    _point(
        10, "a5-size-assertions", "there are assertions, in debug builds", _HEADER_WINS,
        ("older page tgemv; PTO IR manual", "no separate m/k/n run-time assertions on A5"),
        ("header of A5; the manual two lines later", "k and n asserted for tgemv; m, k and n for tmatmul"),
    ),
    _point(
        11, "size-range", "illegal where the header asserts it in any build; elsewhere only remarked upon",
        _READ,
        ("pages", "run-time: must be in [1, 4095]"),
        ("headers of A2A3 and A5", "asserted in debug builds, not in release builds"),
        ("header of CPU", "not checked, but for mx"),
    ),
    _point(
        12, "gemv-datatype-section", "the triples of the profile section are the datatype rule", _READ,
        ("older page tgemv", "'TGEMV / TGEMV_ACC datatype constraints' lists rules of the bias"),
        ("the same page, profile restrictions", "the triples (int32, int8, int8), (float, half, half), …"),
    ),
    _point(
        13, "hifloat8", "hif8 is legal on A5", _HEADER_WINS,
        ("older page tgemv; other pages", "A5: half, bfloat16, float and selected fp8 pairs"),
        ("header of A5; newer page", "(float, hifloat8, hifloat8) too"),
    ),
    _point(
        14, "cpu-follows-a5", "CPU is a profile of its own", _COMPILED,
        ("older pages", "CPU simulator follows A5 semantics"),
        ("header of CPU", "no fp8, no hif8; other checks, tgemv sizes, order of the bias, use of cIn"),
    ),
    _point(
        15, "bias-order", "on A2A3 and A5 the sum starts from the bias, on CPU it is added last",
        "header: the initial matrix comes from the bias table",
        ("page of tgemv_bias", "added after accumulation"),
        ("header; page of mad_bias", "the accumulator is seeded with the bias"),
        ("header of CPU", "added after the loop over K"),
    ),
    _point(
        16, "tmatmul-init", "tmatmul discards the previous accumulator", _HEADER_WINS,
        ("tree page of tmatmul", "the accumulator may start with existing values"),
        ("header", "TMATMUL always starts from zero"),
    ),
    _point(
        17, "valid-equalities", "illegal where static valid extents differ: nothing defines the result",
        _READ,
        ("tree page of tmatmul", "valid extents of A, B and C are equal, as constraints"),
        ("headers", "no check, and no statement what happens when they differ"),
        ("ptoas", "checked for tgemv"),
    ),
    _point(
        18, "accumulator-input", "A2A3 and A5 accumulate in place: c and d must be one storage",
        "header read; pypto pull request 537",
        ("page of tmatmul_acc", "cIn and cOut are chosen freely"),
        ("headers of A2A3 and A5", "cIn is never used"),
        ("header of CPU", "cIn is used"),
    ),
    _point(
        19, "phase-signatures", "accPhase is legal, but for tmatmul.acc on CPU", _HEADER_WINS,
        ("older page tgemv", "signatures without an AccPhase"),
        ("headers", "AccPhase overloads; the three-operand TMATMUL_ACC needs one, and is not on CPU"),
    ),
    _point(
        20, "layout-page", "the formulas and assertions of the headers",
        f"{_COMPILED}: the examples are rejected",
        ("layout page", "fractals are Z-order (Morton); Acc and Mat NoneBox, Right 'NN'"),
        ("programming-model example", "Right and Acc of NoneBox, a Left of 16x16 i8"),
        ("headers", "row-major or column-major boxes; Right Zn, Acc Nz; 16 i8 columns are half a box"),
    ),
    _point(
        21, "compact-is-automatic", "compact mode is a property of the tile", _HEADER_WINS,
        ("pages", "compact mode is automatic in matmul; ExtractMode, InsertMode, SetValidRegion"),
        ("headers", "a template parameter; the names don't exist (SetValidShape does)"),
    ),
    _point(
        22, "names", "the names of the headers", _HEADER_WINS,
        ("pages", "location Scalar; pads Zero, Null, Invalid"),
        ("headers", "no Scalar; pads Null, Zero, Max, Min"),
    ),
    _point(
        23, "mx-suffix", "microscaled fp8 and fp4", _HEADER_WINS,
        ("suffix page", "_mx is an int8 matmul"),
        ("headers", "fp8 and fp4 with a scale factor for each 32 elements of K"),
    ),
    _point(
        24, "l1-capacity", "512 KiB", _HEADER_WINS,
        ("cube buffer page", "L1 has about 1 MB"),
        ("headers of A2A3 and A5", "512 KiB"),
    ),
    _point(
        25, "l0a-order", "Zz on A2A3, Nz on A5", _HEADER_WINS,
        ("cube layout page, table", "L0A is K1 M1 M0 K0 everywhere"),
        ("the same page, remark; headers", "A3 is Zz"),
    ),
    _point(
        26, "assembler-manual-formulas",
        "bias[0,j]; a row vector times a matrix; textract runs on MTE1 or FIX",
        "manual and op definitions read",
        ("assembler manual", "bias[i,j]; tgemv: dst[i,0] = sum lhs[i,j]*rhs[j,0]; textract is a vector op"),
        ("headers; op definitions", "one bias row; lhs is the vector; MTE1 or FIX"),
    ),
    _point(
        27, "left-blayout", "the blayout of a Left tile in a text is the NPU profile's, on CPU as written",
        "PTOAS issues 137 and 345",
        ("assembler manual's A2A3 example", "blayout=row_major"),
        ("ptoas samples", "blayout=col_major"),
        ("ptoas", "replaces it silently: row_major on A3, col_major on A5"),
        ("header of CPU", "takes both for plain products, col_major for mx"),
    ),
    _point(
        28, "mixed-fp8", "legal", _HEADER_WINS,
        ("ptoas", "A and B have one fp8 type"),
        ("headers", "e4m3 and e5m2 in any pairing"),
    ),
    _point(
        29, "mx-scale-shape", "one e8m0 scale factor for each 32 elements of K",
        "header and public kernels read",
        ("newer assembler page", "scale tiles have the shape of the data, and f16 elements"),
        ("headers; kernels", "e8m0, one for 32 elements of K"),
    ),
    _point(
        30, "record-event", "only Event objects can be waited for", _HEADER_WINS,
        ("synchronisation pages", "RecordEvent e = TLOAD(…) passed as a wait argument; TSYNC() of nothing"),
        ("headers", "RecordEvent is an empty tag; TSYNC takes an Op or events"),
    ),
    _point(
        31, "event-ids", "0 to 7", _HEADER_WINS,
        ("pages", "event ids 0 to 15"),
        ("headers; ptoas", "EVENT_ID0 to EVENT_ID7"),
    ),
    _point(
        32, "fractal-size", "illegal on A2A3 and A5 where the matrix unit uses other blocks",
        f"{_COMPILED}: accepted",
        ("pages; headers; ptoas", "no rule ties SFractalSize to the role: an Acc of 512 passes every check"),
        ("the matrix unit", "C has blocks of 16x16, 1024 bytes"),
        ("public mx samples", "an accumulator of fractal=512, and K = 32"),
        ("header", "mx: Left.Cols % 64 == 0"),
    ),
    _point(
        33, "event-consumption", "one wait consumes one set", "kernels, ptoas and bug reports agree",
        ("ordering page", "an event stays available to all subsequent waiters"),
        ("kernels; ptoas", "a wait consumes the flag"),
    ),
    _point(
        34, "size-wrap", "sizes are judged before they are cut to 16 bits", "header read",
        ("pages", "m, k and n must be in [1, 4095]"),
        ("headers", "the assertion sees the size modulo 65536"),
    ),
    _point(
        35, "scale-address", "A5: the address of the scale factors is the data's, divided by 16",
        _HEADER_WINS,
        ("header of A5", "TGET_SCALE_ADDR shifts the data's address right by 4"),
        ("header of CPU", "the scale tile aliases the data tile"),
    ),
)  # fmt: skip
"""Every contradiction known, by number."""


def cited(*numbers: int) -> tuple[Contradiction, ...]:
    """Return contradictions by number, from 1."""
    return tuple(CONTRADICTIONS[number - 1] for number in numbers)
