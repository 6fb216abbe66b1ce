"""What five documents say, sentence by sentence, and what of the catalogue or of the rules answers for it.

``python -m mmaproof.reports.document_statements > docs/document-statements.md`` writes the table. A sentence
that can be checked is answered by theorems or obligations (by id), rules (``isa/rule``), choices,
contradictions or kinds of findings, as `mmaproof explain` names them; one that is not has the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from .document_statement import Statement
from .power_paper import PAPER

_HEADING = """# What the documents say, and what answers for it

Written by `python -m mmaproof.reports.document_statements`.
`mmaproof explain NAME` explains each name of the second column: a theorem, a rule, a choice of a reading, a
contradiction between documents, or a kind of finding of `verify`. Where nothing is named, the third column
has the reason.
"""


_ORDERS_NOTHING = (
    "verify lets it order its own pipe or thread alone, so that what no barrier or flag orders is a race; "
    "an instruction by itself has no other traffic"
)

DOCUMENTS: Mapping[str, tuple[Statement, ...]] = MappingProxyType(
    {
        "Moreira et al., A matrix math facility for Power ISA processors": PAPER,
        "PTX ISA 9.7.14.3, Block Scaling for mma.sync": (
            Statement(
                "D = (A · scale_A) · (B · scale_B) + C, each chunk of a row or column times its factor",
                ("ptx/blocked/step", "ptx/block-scale/chunk", "ptx/block-scale/exact"),
            ),
            Statement(
                "block scaling is of the kinds mxf8f6f4, mxf4 and mxf4nvf4",
                ("ptx/legal/combinations", "ptx/kind", "mx-kinds-without-scale"),
            ),
            Statement(
                "each row of A, and each column of B, is divided into as many chunks as it has factors",
                ("ptx/block-scale/chunk", "ptx/selector/scale-layout", "ptx/stated/products"),
            ),
            Statement(
                "table 35: shapes of scale_A and scale_B",
                ("ptx/scale-vector", "ptx/stated/scale-factors", "ptx/selector/scale-layout"),
            ),
            Statement(
                "table 36: kinds, element types, scale types and sizes",
                ("ptx/kind", "ptx/scale-type", "ptx/legal/combinations", "scale-vec-4x-ue8m0"),
                "ue8m0 with 4X since PTX 9.1",
            ),
            Statement(
                "scale-a-data and scale-b-data hold the factors of A and of B",
                ("ptx/selector/gathered", "ptx/stated/scale-factors", "ptx/operand-sort"),
            ),
            Statement(
                "figures 42 to 45: which threads and bytes hold which factors",
                ("ptx/stated/scale-factors", "ptx/selector/once"),
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
            Statement(
                "accumulators of integers are s32", ("ptx/accumulator-types", "ptx/legal/combinations")
            ),
            Statement(
                "a fragment that an operation returns is an operand of another of its shape, layout and type",
                ("ptx/wmma/load-mma-store", "undefined"),
                "verify keeps fragments opaque: another use of one is a finding, or unsupported",
            ),
            Statement(
                "rows (columns) of a matrix are contiguous, lines need not be",
                ("ptx/wmma/transfer", "ptx/stated/wmma-memory"),
            ),
            Statement(
                "example of alignment: fragments of 32 bytes, so p and 2 s are multiples of 32",
                ("ptx/wmma/alignment", "ptx/stated/wmma-memory", "wmma-line-alignment"),
            ),
            Statement(
                "4-bit wmma: A by rows and B by columns, C and D by either",
                ("ptx/layout", "ptx/legal/combinations", "ptx/stated/instructions"),
            ),
            Statement("stride is an optional 32-bit integer", ("ptx/legal/operands", "ptx/operand-count")),
            Statement(
                "wmma.store.d: shapes and types",
                ("ptx/stated/instructions", "ptx/legal/combinations", "wmma-integer-shapes-f32"),
            ),
            Statement(
                "wmma.mma without types of A and B is of f16",
                ("ptx/stated/instructions", "ptx/legal/combinations"),
            ),
            Statement(
                "examples of wmma and mma",
                ("ptx/stated/texts/examples", "example-operands"),
                "legal as printed but for those that lack .aligned, and an f64 fragment in a .b32 register",
            ),
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
                ("divergence", "undefined"),
                "verify reports threads that are missing, and pointers or strides that differ; a single "
                "instruction has one of each",
            ),
            Statement("wmma.load is a weak memory operation", ("race",), _ORDERS_NOTHING),
            Statement(
                "D = A·B + C; single-bit products are XOR or AND, then popc",
                ("ptx/blocked/step", "ptx/stated/products", "ptx/bit-operation"),
            ),
            Statement(
                "the other mma compute one product in a warp", ("ptx/warp/product", "ptx/fragment/manual")
            ),
            Statement(
                "mma of 8- and 4-bit integers: shapes, types, .row.col, .satfinite",
                ("ptx/stated/instructions", "ptx/legal/combinations"),
            ),
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
                "ldmatrix: shapes, numbers, .trans, .shared, .b16, from shared memory",
                ("ptx/stated/instructions", "ptx/legal/combinations", "ptx/state-space"),
            ),
            Statement(
                "ldmatrix and stmatrix: rows by the lanes' addresses, .trans transposes",
                ("ptx/matrix-move/layout", "ptx/matrix-move/addresses", "ptx/matrix-move/sees-tile"),
            ),
            Statement(
                "mma.sp: metadata say where the stored elements of A are",
                (
                    "ptx/sparsity/columns",
                    "ptx/sparsity/product",
                    "ptx/sparsity/chunks",
                    "ptx/stated/metadata",
                ),
                "which bits those of m16n8k16 (f16), k8 (tf32), k32 (s8) and k64 (s4) are is open: "
                "half-k-metadata",
            ),
            Statement("m16n8k32 may exploit parallelism in time", (), "a guess about hardware"),
        ),
        "PTO ISA, pto.tmatmul_bias": (
            Statement(
                "C[i,j] = Σ_k A[i,k]·B[k,j] + Bias[0,j] for i < M, j < N of the valid regions",
                ("pto/product/any-size", "pto/blocked/any-trip-count", "pto/product/bias-order"),
            ),
            Statement(
                "M, K and N are valid rows of A, valid columns of A and valid columns of B",
                ("pto/stated/sizes", "pto/legal/products"),
            ),
            Statement(
                "the bias extends across M; 'broadcast along M=1 rows'",
                ("pto/product/any-size", "pto/product/bias", "02-bias-broadcast"),
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
            Statement(
                "the operation iterates over dst's valid region",
                ("pto/result-extent", "06-iteration-domain"),
                "m, k and n come from the sources; static extents that differ are refused",
            ),
            Statement("a is in Left, b in Right", ("pto/location", "pto/legal/products")),
            Statement(
                "no side effects beyond the destination",
                ("pto/transport/pipeline", "pto/transport/load-store"),
                "what is computed is a function of the operands; nothing else is written",
            ),
            Statement("does not implicitly fence unrelated traffic", ("race",), _ORDERS_NOTHING),
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
            Statement("the intrinsic with AccPhase", ("pto/legal/phases", "19-phase-signatures")),
            Statement(
                "examples: TASSIGN(bias, 0x3000)",
                ("pto/legal/modules", "05-bias-address"),
                "which is outside the bias table",
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
                "M is 1",
                ("pto/gemv-row", "09-gemv-m"),
            ),
            Statement(
                "A2/A3: int32_t or float, int8 in 32 bits, floats round to nearest even",
                ("pto/blocked/step", "accumulation", "accumulator-rounding"),
            ),
            Statement(
                "A5: the accumulator's native rounding mode",
                ("accumulator-rounding", "accumulation"),
                "a choice, as no document names the mode; what is proved for unspecified holds for any",
            ),
            Statement("static shapes of A, B and the result match", ("pto/static-shape",)),
            Statement("locations are Left, Right and Acc", ("pto/location",)),
            Statement(
                "the simulator follows A5's semantics",
                ("14-cpu-follows-a5", "pto/legal/kinds"),
                "it does not: its header is a profile of its own",
            ),
            Statement("syntax: texts at two levels, intrinsics", ("pto/stated/texts", "pto/stated/names")),
            Statement(
                "the operation iterates over dst's valid region",
                ("pto/result-extent", "06-iteration-domain"),
            ),
            Statement("m must be 1", ("pto/gemv-row", "09-gemv-m")),
            Statement(
                "k and n must be in [1, 4095]",
                ("pto/size-range", "pto/legal/products", "11-size-range"),
                "a rule of its own, apart from that of capacity",
            ),
            Statement(
                "the section of datatypes has the rules of the bias",
                ("pto/legal/types", "12-gemv-datatype-section"),
            ),
            Statement(
                "supported triples of A2A3 and A5",
                ("pto/type-triple", "pto/mixed-fp8", "pto/legal/types", "13-hifloat8"),
                "on A5 hif8, too; selected fp8 pairs are e4m3 and e5m2 in any pairing",
            ),
            Statement(
                "A5: Left is Nz, Right Zn, Acc Nz",
                ("pto/left-inner", "pto/left-blocks", "pto/right-layout", "pto/accumulator-layout"),
            ),
            Statement("bias: type, one row, location", ("pto/bias-type", "pto/bias-rows", "pto/location")),
            Statement("does not implicitly fence unrelated traffic", ("race",), _ORDERS_NOTHING),
            Statement(
                "illegal operand tuples are rejected", ("pto/operand-type",), "which, the rules above say"
            ),
            Statement(
                "programs must not rely on behaviour outside the documented domain", (), "advice to programs"
            ),
            Statement(
                "examples: TGEMV_ACC(c1, c0, a, b) on two accumulators",
                ("18-accumulator-input", "pto/product/in-place", "accumulator-read"),
                "which the NPU adds to c1's old contents",
            ),
            Statement(
                "examples: TGEMV_BIAS with a bias of half at 0x3000",
                ("01-bias-type", "05-bias-address", "pto/legal/modules"),
            ),
            Statement(
                "examples: a Left tile of 1 x 16 half",
                ("pto/row-chunks",),
                "a legal type, which no mover can fill on an NPU: rows are moved in chunks of 512 bytes",
            ),
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
