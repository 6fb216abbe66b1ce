"""What five documents say, sentence by sentence, and what of the catalogue or of the rules answers for it.

``python -m mmaproof.reports.document_statements > docs/document-statements.md`` writes the table. A sentence
that can be checked is answered by theorems or obligations (by id), rules (``isa/rule``), choices,
contradictions or kinds of findings, as `mmaproof explain` names them; one that is not has the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

_HEADING = """# What the documents say, and what answers for it

Written by `python -m mmaproof.reports.document_statements`.
`mmaproof explain NAME` explains each name of the second column: a theorem, a rule, a choice of a reading, a
contradiction between documents, or a kind of finding of `verify`. Where nothing is named, the third column
has the reason.
"""


class Statement(NamedTuple):
    """A sentence of a document.

    Attributes
    ----------
    text : str
        The sentence, in short.
    answers : tuple of str
        Names that `mmaproof explain` knows.
    remark : str
        What it lacks, or the reason that nothing answers for it.
    """

    text: str
    answers: tuple[str, ...] = ()
    remark: str = ""


_NO_MEMORY_MODEL = "not modelled: there is one thread of control, and no other traffic to be ordered"
_TOOLS = "about tools, not about what is computed"

DOCUMENTS: Mapping[str, tuple[Statement, ...]] = MappingProxyType(
    {
        "Moreira et al., A matrix math facility for Power ISA processors": (
            Statement("ACC[0:7] are eight accumulators", ("power/accumulator-range",)),
            Statement(
                "as long as an accumulator is in use its four VSRs must not be used",
                ("power/state/accepted", "power/state/aliasing", "aliasing"),
            ),
            Statement("VSR[32:63] can always be used", ("power/state/accepted",)),
            Statement(
                "moving data in, or setting to zero, primes an accumulator",
                ("power/state/transition", "power/state/primed-again"),
            ),
            Statement(
                "after a depriming event an accumulator should not be used until primed again",
                ("power/state/after-xxmfacc", "power/state/after-clobber"),
            ),
            Statement(
                "forms that write X·Yᵀ prime the accumulator; accumulating ones require it primed",
                ("power/state/transition", "power/state/accepted"),
            ),
            Statement(
                "X and Y must not overlap the accumulator", ("power/vsr-overlap", "power/state/overlap")
            ),
            Statement(
                "integers: A ← X·Yᵀ [+ A], k = 2, 4 or 8",
                ("power/blocked/first", "power/blocked/next", "power/blocked/ring"),
            ),
            Statement(
                "some integer forms saturate, others are modulo",
                ("power/integers/saturation", "power/integers/overflow"),
            ),
            Statement(
                "8-bit X is signed, 8-bit Y unsigned; others are signed",
                ("power/integers/product-range",),
            ),
            Statement(
                "modulo: behind the largest integer comes the smallest; saturating: it stays the largest",
                ("power/integers/saturation", "power/integers/one-clamp"),
            ),
            Statement(
                "int8 saturates in the accumulating form only, for a product alone can't overflow",
                ("power/integers/overflow", "power/stated/updates"),
            ),
            Statement(
                "int4 is modulo alone",
                ("power/stated/updates", "power/integers/overflow"),
                "nor can its product overflow; with an accumulator it wraps",
            ),
            Statement(
                "VSRs have 128 bits, an accumulator 512, which are those of four VSRs",
                ("power/stated/targets", "power/layout/accumulator"),
            ),
            Statement(
                "floats: A ← [−] X·Yᵀ [± A]; p and n are the signs of product and accumulator",
                ("power/blocked/ring", "power/signs/negative-accumulator", "power/signs/negated-result"),
            ),
            Statement(
                "xvf64ger: X is an even-odd pair of VSRs, the accumulator is 4 x 2",
                ("power/odd-pair", "power/layout/accumulator", "power/encoding/odd-pair"),
            ),
            Statement(
                "equation (3): masks switch rows, columns and products off",
                (
                    "power/masking/live",
                    "power/masking/disabled",
                    "power/masking/equation-3",
                    "masked-element",
                ),
                "a disabled element is +0, which equation (3) does not say",
            ),
            Statement(
                "computations on disabled rows and columns are not performed, exceptions are not generated",
                ("power/masking/exceptions",),
                "OX and UX are not told apart; where they are raised XX is",
            ),
            Statement(
                "of xvf32ger and xvf64ger only x and y masks can be specified", ("power/mask-unexpected",)
            ),
            Statement(
                "masks are fields of 4, 2 and k bits of an instruction with the prefix, which others lack",
                ("power/mask-range", "power/stated/words", "power/legal/complete", "power/encoding/unique"),
            ),
            Statement("prefixed forms compute residual iterations", ("power/blocked/ragged",)),
            Statement(
                "Figures 4 to 6: DGEMM on eight accumulators computes X·Yᵀ",
                ("power/kernels/dgemm/any-n", "power/kernels/dgemm/stored"),
            ),
            Statement(
                "Figures 8 and 9: SCONV is a 3 x 3 convolution of three channels",
                ("power/kernels/sconv",),
                "as printed its macro does not parenthesise arguments, and it is not (pinned)",
            ),
            Statement(
                "built-ins assemble, build and disassemble accumulators", ("power/transport/built-ins",)
            ),
            Statement(
                "the programmer must not use an accumulator that has not been primed",
                ("power/state/accepted", "power/state/rules-needed"),
            ),
            Statement("passing accumulators across calls, or more than eight, costs performance", (), _TOOLS),
            Statement("results of latency, throughput and power", (), "measured on hardware, not specified"),
        ),
        "PTX ISA 9.7.14.3, Block Scaling for mma.sync": (
            Statement(
                "D = (A · scale_A) · (B · scale_B) + C, each chunk of a row or column times its factor",
                ("ptx/blocked/step", "ptx/block-scale/chunk", "ptx/block-scale/exact"),
            ),
            Statement(
                "table 35: shapes of scale_A and scale_B",
                ("ptx/scale-vector", "ptx/stated/scale-factors", "ptx/selector/scale-layout"),
            ),
            Statement(
                "table 36: kinds, element types, scale types and sizes",
                ("ptx/kind", "ptx/scale-type", "ptx/legal/combinations"),
            ),
            Statement(
                "thread-id-a selects a thread pair of the quad, thread-id-b a thread",
                ("ptx/selector/scale-layout", "ptx/selector/once", "ptx/stated/scale-factors"),
            ),
            Statement(
                "byte-id selects a byte (1X), a byte pair (2X), and must be 0 for 4X",
                ("ptx/selector/scale-layout", "ptx/selector/gathered", "ptx/stated/scale-factors"),
            ),
            Statement(
                "table 37 has the valid selectors; any other value is undefined",
                ("ptx/selector/table-37", "ptx/selector/illegal", "ptx/selector", "ptx/legal/selectors"),
            ),
        ),
        "Warp-level matrix multiply-accumulate instructions, notes on PTX (2023)": (
            Statement(
                "shapes and PTX versions of 4-bit wmma and mma", ("ptx/stated/instructions", "ptx/shape")
            ),
            Statement(
                "A and B must have the same integer type",
                ("ptx/multiplicand-types", "mixed-signedness"),
                "of wmma; mma takes s8 with u8 and s4 with u4, as the manual has it",
            ),
            Statement("accumulators of integers are s32", ("ptx/accumulator-types",)),
            Statement(
                "4-bit and single-bit wmma need sm_75 and PTX 6.3, where they are a preview",
                ("ptx/target", "ptx/legal/available", "ptx/stated/instructions"),
                "that they might change is not modelled",
            ),
            Statement(
                "fragments are vectors of so many registers",
                ("ptx/register-count", "ptx/legal/registers", "ptx/stated/instructions"),
            ),
            Statement(
                ".satfinite is an option of integer products",
                ("ptx/satfinite", "ptx/legal/combinations", "ptx/numerics/saturation"),
            ),
            Statement(
                "who holds which element of a wmma fragment is unspecified",
                ("ptx/wmma/transfer", "ptx/wmma/load-mma-store"),
            ),
            Statement(
                "stride counts elements from a line to the next; a matrix may be a part of a larger one",
                ("ptx/wmma/transfer",),
            ),
            Statement(
                "each line must be aligned to the fragment's size: pointer and stride are",
                ("ptx/wmma/alignment", "ptx/stride", "misaligned"),
            ),
            Statement("the default stride is the leading dimension", ("ptx/wmma/default-stride",)),
            Statement(
                "a stride less than the default is undefined", ("ptx/wmma/minimum-stride", "ptx/stride")
            ),
            Statement("wmma.load works on .global, .shared and generic addresses", ("ptx/state-space",)),
            Statement(".sync and .aligned are mandatory", ("ptx/sync", "ptx/aligned")),
            Statement(
                "all threads of the warp execute the same wmma.load, with one p and stride; none has exited",
                ("divergence",),
                "reported by verify where it runs a kernel; a single instruction has one pointer and stride",
            ),
            Statement("wmma.load is a weak memory operation", (), _NO_MEMORY_MODEL),
            Statement("D = A·B + C; single-bit products are XOR or AND, then popc", ("ptx/blocked/step",)),
            Statement(
                "shape, layouts and types of wmma.mma must match those of the loads",
                ("ptx/wmma/load-mma-store",),
                "verify refuses fragments of another shape, type or layout",
            ),
            Statement(
                "m8n8k4 of f16 is four computations; which lanes take part",
                ("ptx/fragment/quad-pairs", "ptx/fragment/manual"),
            ),
            Statement(
                "rows and columns of fragments by groupID and threadID_in_group",
                ("ptx/fragment/manual", "ptx/fragment/layout", "ptx/warp/product"),
            ),
            Statement(
                "m8n8k4: .f32 of C needs .f32 of D; m16n8k8: D as C, A as B", ("ptx/legal/combinations",)
            ),
            Statement(
                "ldmatrix and stmatrix: rows by the lanes' addresses, .trans transposes",
                ("ptx/matrix-move/layout", "ptx/matrix-move/addresses", "ptx/matrix-move/sees-tile"),
            ),
            Statement(
                "mma.sp: metadata say where the stored elements of A are",
                ("ptx/sparsity/columns", "ptx/sparsity/product", "ptx/sparsity/chunks"),
            ),
            Statement("m16n8k32 may exploit parallelism in time", (), "a guess about hardware"),
        ),
        "PTO ISA, pto.tmatmul_bias": (
            Statement(
                "C[i,j] = Σ_k A[i,k]·B[k,j] + Bias[0,j] for i < M, j < N of the valid regions",
                ("pto/product/any-size", "pto/blocked/full", "pto/product/bias-order"),
            ),
            Statement(
                "bias has exactly 1 row and N columns, row-major on A5",
                ("pto/bias-rows", "pto/bias-columns", "pto/bias-width", "pto/bias-row-major"),
            ),
            Statement("TileBias::DType must match TileRes::DType", ("pto/bias-type",)),
            Statement("TileBias::Loc == TileType::Bias", ("pto/location",)),
            Statement(
                "all constraints of TMATMUL apply", ("pto/static-shape", "pto/type-triple", "pto/size-range")
            ),
            Statement("the operation iterates over dst's valid region", ("pto/result-extent",)),
            Statement(
                "no side effects beyond the destination",
                ("pto/transport/pipeline", "pto/transport/load-store"),
                "what is computed is a function of the operands; nothing else is written",
            ),
            Statement("does not implicitly fence unrelated traffic", (), _NO_MEMORY_MODEL),
            Statement(
                "illegal operand tuples are rejected", ("pto/operand-type",), "which, the rules above say"
            ),
            Statement(
                "the simulator follows A5's semantics",
                ("14-cpu-follows-a5", "pto/pitch/simulator", "pto/legal/kinds"),
                "it does not: its header is a profile of its own",
            ),
            Statement(
                "syntax: assembly and IR at two levels, with the C++ intrinsic",
                ("pto/stated/texts", "pto/stated/names"),
            ),
            Statement(
                "examples: a bias of half and an accumulator of float",
                ("pto/bias-type", "01-bias-type"),
                "which the page's own constraint excludes",
            ),
            Statement(
                "programs must not rely on behaviour outside the documented domain", (), "advice to programs"
            ),
        ),
        "PTO ISA, pto.tgemv": (
            Statement(
                "K and N are the valid rows and columns of B",
                ("08-gemv-k", "pto/product/gemv-sizes"),
            ),
            Statement(
                "dst[0,j] = Σ_k a[0,k]·b[k,j], with accumulation and bias as tmatmul",
                ("pto/product/gemv", "pto/product/gemv-sizes"),
            ),
            Statement(
                "A2/A3: int32_t or float, int8 in 32 bits, floats round to nearest even",
                ("pto/blocked/step", "accumulation"),
            ),
            Statement(
                "A5: the accumulator's native rounding mode",
                ("accumulation",),
                "seeded and added-last round to nearest even; what is proved for unspecified holds for any",
            ),
            Statement("static shapes of A, B and the result match", ("pto/static-shape",)),
            Statement("locations are Left, Right and Acc", ("pto/location",)),
            Statement("m must be 1", ("pto/gemv-row",)),
            Statement(
                "k and n must be in [1, 4095]",
                ("pto/size-range",),
                "a rule of its own, apart from that of capacity",
            ),
            Statement("supported triples of A2A3 and A5", ("pto/type-triple", "pto/mixed-fp8")),
            Statement(
                "A5: Left is Nz, Right Zn, Acc Nz",
                ("pto/left-inner", "pto/left-blocks", "pto/right-layout", "pto/accumulator-layout"),
            ),
            Statement("bias: type, one row, location", ("pto/bias-type", "pto/bias-rows", "pto/location")),
            Statement("does not implicitly fence unrelated traffic", (), _NO_MEMORY_MODEL),
            Statement(
                "A5 enforces no separate assertions on m, k and n",
                ("pto/size-range", "10-a5-size-assertions"),
                "the rule holds where the page states it, whoever enforces it",
            ),
        ),
    }
)


def statements() -> Iterator[Statement]:
    """Yield the statements of all documents."""
    for of_one in DOCUMENTS.values():
        yield from of_one


def statement_table() -> str:
    """Return the documents with their statements, as Markdown."""
    return _HEADING + "".join(
        f"\n## {document}\n\n| it says | what answers for it | remark |\n| --- | --- | --- |\n"
        + "".join(map(_row, of_one))
        for document, of_one in DOCUMENTS.items()
    )


def _row(statement: Statement) -> str:
    answers = ", ".join(f"`{answer}`" for answer in statement.answers) or "nothing"
    return f"| {statement.text} | {answers} | {statement.remark} |\n".replace("  ", " ")


if __name__ == "__main__":
    print(statement_table(), end="")
