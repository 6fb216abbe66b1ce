"""Where the PTX manual, ptxas and reports from hardware contradict each other.

"Manual" is the PTX ISA, versions 9.0 and 9.1; "ptxas" is V13.0.88 of CUDA 13.0 where nothing else is said,
and was run on the forms in question.
"""

from __future__ import annotations

from ..legality import Contradiction

_INVALID = "illegal: what the manual excludes is not portable, though the assembler takes it"
_RUN = "ptxas was run on it"

# -- what can be spelled
MIXED_SIGNEDNESS = Contradiction(
    "mixed-signedness",
    (
        ("manual, data types of 9.7.14.2", "both multiplicands u8 or both s8, both u4 or both s4"),
        ("manual, syntax of mma and mma.sp", "A and B have types of their own"),
        ("ptxas", "mma and mma.sp take mixed pairs, wmma.mma does not"),
    ),
    "mixed pairs are legal for mma and mma.sp, not for wmma.mma",
    _RUN,
)
FP8_SPARSE_K32 = Contradiction(
    "fp8-sparse-m16n8k32",
    (
        ("manual, notes of mma.sp", "e4m3 and e5m2 with m16n8k32 since PTX 8.7"),
        ("manual, syntax of mma.sp; ptxas", "only m16n8k64"),
    ),
    "illegal",
    _RUN,
)
FP8_SPARSE_F16 = Contradiction(
    "fp8-sparse-f16-accumulators",
    (
        ("manual, notes of mma.sp", "f16 accumulators for e4m3 and e5m2 on sm_120a"),
        ("manual, syntax of the form without a kind", "f32 only"),
        ("ptxas", "f16 only with ordered metadata, on sm_120a and later of its family"),
    ),
    "legal as ptxas takes it",
    _RUN,
)
F8F6F4_K16 = Contradiction(
    "f8f6f4-m16n8k16",
    (
        ("manual", "kind::f8f6f4 has m16n8k32 only"),
        ("ptxas", "takes m16n8k16 too where both types are e4m3 or e5m2"),
    ),
    _INVALID,
    _RUN,
)
UNSCALED_KINDS = Contradiction(
    "mx-kinds-without-scale",
    (
        ("manual", "kind::mxf8f6f4, mxf4 and mxf4nvf4 come with .block_scale"),
        ("ptxas", "takes them without it where both types are e4m3 or e5m2, as if no kind were spelled"),
    ),
    _INVALID,
    _RUN,
)
BF16_M8N8K4 = Contradiction(
    "bf16-m8n8k4",
    (
        ("manual", "bf16 has m16n8k8 and m16n8k16"),
        ("ptxas", "takes m8n8k4 too, with accumulators of f32, and generates code for it"),
    ),
    _INVALID,
    _RUN,
)
UNCHECKED_BIT_OPERATION = Contradiction(
    "bit-operation-on-4-bit-integers",
    (
        ("manual", "only b1 has .xor.popc and .and.popc"),
        ("ptxas", "ignores one, .or too, on dense s4 x s4 and u4 x u4, with or without .popc"),
    ),
    _INVALID,
    _RUN,
)
F8F6F4_TARGETS = Contradiction(
    "f8f6f4-targets",
    (
        ("manual", "kind::f8f6f4 of mma and mma.sp needs sm_120a, or the family of sm_120f from PTX 8.8"),
        (
            "ptxas",
            "takes it for e4m3 and e5m2 on sm_100, sm_103 and sm_110 with a or f too, dense from PTX 8.6",
        ),
    ),
    _INVALID,
    _RUN,
)
MANY_MATRICES = Contradiction(
    "x8",
    (
        ("manual", "ldmatrix and stmatrix move x1, x2 or x4 matrices"),
        ("ptxas", "takes .x8 and more, with 1, 2 or 4 registers"),
    ),
    _INVALID,
    _RUN,
)
STMATRIX_TRANS = Contradiction(
    "stmatrix-m16n8-trans",
    (
        ("manual, an example", "stmatrix…m16n8.x4.b8 without .trans"),
        ("manual, text; ptxas", ".trans is mandatory with m16n8"),
    ),
    "mandatory",
    _RUN,
)
WMMA_F32_ACCUMULATOR = Contradiction(
    "wmma-integer-shapes-f32",
    (
        ("manual", "m8n8k32 and m8n8k128 have accumulators of s32"),
        ("ptxas", "takes wmma.load.c and wmma.store.d of f32 there; no wmma.mma uses them"),
    ),
    _INVALID,
    _RUN,
)
WMMA_ROUNDING_POSITION = Contradiction(
    "wmma-f64-rounding-position",
    (("manual", "the rounding stands behind the shape"), ("ptxas", "it may stand anywhere")),
    "read anywhere, printed behind the shape",
    _RUN,
)
F64_ROUNDING = Contradiction(
    "mma-f64-rounding",
    (
        ("manual, syntax of mma on f64", "has no place for a rounding (and .m8n84 for .m8n8k4)"),
        ("manual, text and examples; ptxas", ".rn, .rz, .rm or .rp"),
    ),
    "legal, and printed at the end",
    _RUN,
)
BIT_OPERATION_POSITION = Contradiction(
    "b1-operation-position",
    (
        ("manual, syntax of mma", ".xor.popc and .and.popc stand at the end"),
        ("manual, prose", "they stand behind mma"),
        ("ptxas", "takes both; .popc must follow, on wmma.mma it need not"),
    ),
    "both are read, the syntax's is printed; .popc must follow",
    _RUN,
)
UE8M0_4X = Contradiction(
    "scale-vec-4x-ue8m0",
    (
        ("manual, before 9.1", "mxf4nvf4 takes ue8m0 with 2X only"),
        ("manual, 9.1; ptxas of CUDA 13.5", "with 4X too since PTX 9.1"),
        ("ptxas of CUDA 13.0", "rejects it, knowing no PTX 9.1"),
    ),
    "legal from PTX 9.1",
    _RUN,
)
TF32_K16 = Contradiction(
    "tf32-m16n8k16",
    (
        ("manual", "dense tf32 has m16n8k4 and m16n8k8"),
        ("ptxas", "says nothing about m16n8k16 when it reads it, and fails to generate code"),
    ),
    "illegal",
    _RUN,
)
UNCHECKED_LAYOUT = Contradiction(
    "layout-of-moves",
    (
        ("manual", "ldmatrix, stmatrix and movmatrix have no .row and .col"),
        ("ptxas", "ignores one"),
    ),
    _INVALID,
    _RUN,
)
SM_88_VERSION = Contradiction(
    "sm-88-version",
    (
        ("manual, release notes; LLVM; ptxas of CUDA 13.5", "sm_88 came with PTX 9.0"),
        ("ptxas of CUDA 13.0", "takes .target sm_88 from PTX 7.3"),
    ),
    "from PTX 9.0",
    _RUN,
)
REPEATED_MODIFIER = Contradiction(
    "repeated-modifier",
    (
        ("manual", "a modifier is written once"),
        ("ptxas", "takes .sync and .satfinite twice, no other modifier"),
    ),
    "not an instruction",
    _RUN,
)

# -- operands
F16_SPARSE_SELECTOR = Contradiction(
    "f16-sparsity-selector",
    (
        ("manual", "the selector of mma.sp…m16n8k32 on f16 is 0 or 1"),
        ("ptxas", "takes 2 and 3 where the accumulators are f32, not where they are f16 or for bf16"),
    ),
    _INVALID,
    f"{_RUN}; two of a quad's lanes hold the metadata, so there are two choices",
)
FP8_K16_B = Contradiction(
    "fp8-m16n8k16-b",
    (
        ("manual; ptxas of CUDA 13.5", "B of m16n8k16 on e4m3 and e5m2 is one register"),
        ("ptxas of CUDA 13.0", "takes 1, 2 or 4"),
    ),
    "one register: 16 x 8 elements of 8 bits over 32 lanes",
    _RUN,
)
WMMA_F64_FRAGMENT = Contradiction(
    "wmma-f64-fragment",
    (
        ("manual, 9.7.14.4.1", "C and D of f64 are one register"),
        ("manual, example; ptxas", "two"),
    ),
    "two: 8 x 8 elements over 32 lanes",
    _RUN,
)
EXAMPLE_OPERANDS = Contradiction(
    "example-operands",
    (
        (
            "manual, examples of mma m16n8k4 tf32, of mma f16 and of wmma tf32",
            "have other register counts",
        ),
        ("manual, fragment tables; ptxas", "the counts that follow from the shape"),
    ),
    "the counts that follow from the shape",
    _RUN,
)
WMMA_STRIDE = Contradiction(
    "wmma-stride",
    (
        ("manual", "a stride below the default, or one that misaligns a line, is undefined behaviour"),
        ("ptxas", "takes any constant"),
    ),
    _INVALID,
    _RUN,
)
WMMA_LINE_ALIGNMENT = Contradiction(
    "wmma-line-alignment",
    (
        ("PTX manual, wmma.load and wmma.store", "every line is aligned to the fragment's bytes, 32 of f16"),
        ("CUDA C++ guide, load_matrix_sync", "pointers are multiples of 32 bytes, strides of 16"),
    ),
    "the manual's for the specification; in kernels, lines behind the first may be at any multiple of 16 "
    "bytes, as nvcc emits them for padded tiles",
    "both documents; nvcc was run on a padded tile",
)
UNCHECKED_CLASSES = Contradiction(
    "unchecked-register-classes",
    (
        ("manual, 9.2 and the operand tables", "a register has the size and sort of the operand's type"),
        ("ptxas", "takes any register of the size, predicates too, in some forms and not in others"),
        ("ptxas", "takes any integer register as thread-id, 8- and 16-bit ones as .shared addresses"),
        ("ptxas", "of a vector of .b32 and others it looks at some elements only"),
    ),
    _INVALID,
    _RUN,
)  # fmt: skip
UNCHECKED_CONSTANTS = Contradiction(
    "unchecked-constants",
    (
        ("manual", "A, B, metadata and scale factors are registers; constants have the type of the operand"),
        ("ptxas", "takes float constants for untyped 32-bit and for f64 operands, integers in a vector with "
         "registers of .b32, and other constants of C"),
    ),
    _INVALID,
    _RUN,
)  # fmt: skip
REFUSED_SINK = Contradiction(
    "refused-sink",
    (
        ("manual, chapter 4", "_ stands for a result that is not needed"),
        (
            "ptxas",
            "takes it in D, but not where it expands the form (f64 with k8, k16; wmma on tf32)",
        ),
    ),
    "legal",
    _RUN,
)
BRACED_REGISTER = Contradiction(
    "braced-register",
    (
        ("manual", "scale_a, scale_b and the metadata of mma.sp are registers"),
        ("ptxas; inline assembly of CUTLASS and others", "a vector of one register, too, as in {%r40}"),
        ("ptxas", "not where it expands mma.sp to other instructions, nor at any other operand"),
    ),
    "legal as ptxas takes it; tables and descriptions have the register",
    f"{_RUN}, at every operand that is one register",
)

# -- layouts
B1_A_COLUMNS = Contradiction(
    "m16n8k256-a-columns",
    (
        ("manual, 9.7.14.5.13", "the column of A for i < 64 is computed without masking i by 31"),
        ("the bijection; CuTe", "with the mask, as for i >= 64"),
    ),
    "with the mask: without it columns reach 159 and overlap",
    "both formulas were executed",
)
LDMATRIX_ADDRESSES = Contradiction(
    "ldmatrix-m16n16-addresses",
    (
        ("manual, address table", "eight addresses for each matrix"),
        ("manual, text on m16n16", "sixteen rows for each matrix"),
    ),
    "sixteen addresses for a 16x16 matrix",
    "a row is 16 bytes; CUTLASS passes sixteen addresses",
)
WMMA_DEFAULT_STRIDE = Contradiction(
    "wmma-default-stride",
    (
        ("manual, alignment of wmma.load", "every row (column) starts at a multiple of the fragment's size"),
        (
            "manual, default stride",
            "f16 A .col of m8n32k16 and B .row of m32n8k16: lines of 16 bytes, fragment 32",
        ),
    ),
    "the alignment rule: for these two operands the default stride is misaligned",
    "ptx/wmma/default-stride; not tried on hardware",
)
HOPPER_FP8 = Contradiction(
    "fp8-accumulation-on-hopper",
    (
        ("MMA-Sim", "mma.sync takes all products of a row in one step, as other types"),
        (
            "machine code by ptxas for sm_90, sm_100, sm_103 and sm_110",
            "two f16 instructions from +0, products with k mod 4 < 2 in the first; C is added last",
        ),
    ),
    "the models hopper and blackwell-sm100 compute what the machine code does",
    "machine code of every form is read by tests/conformance/test_machine_code.py; sums were not measured",
)


# -- products of warpgroups
WGMMA_INTEGER_N = Contradiction(
    "wgmma-integer-n",
    (
        ("manual, syntax of wgmma.mma_async on integers", "N ends at 224"),
        ("manual, table of shapes; ptxas", "240 and 256 too"),
    ),
    "240 and 256 are legal",
    _RUN,
)
WGMMA_MIXED_SIGNEDNESS = Contradiction(
    "wgmma-mixed-signedness",
    (
        ("manual, data types of wgmma", "both multiplicands u8 or both s8"),
        ("manual, syntax and notes of wgmma; ptxas", "mixed pairs since PTX 8.4"),
    ),
    "mixed pairs are legal since PTX 8.4",
    _RUN,
)
WGMMA_ALIGNED = Contradiction(
    "wgmma-aligned",
    (
        ("manual", "wgmma.mma_async, .fence, .commit_group and .wait_group have .aligned"),
        ("ptxas", "takes each without it"),
    ),
    _INVALID,
    _RUN,
)
WGMMA_LAYOUT = Contradiction(
    "layout-of-wgmma",
    (
        ("manual", "wgmma has no .row and .col: trans-a and trans-b say how operands lie in shared memory"),
        ("ptxas", "ignores .row and .col, also .col.row"),
    ),
    _INVALID,
    _RUN,
)
WGMMA_REPEATED_REGISTERS = Contradiction(
    "wgmma-repeated-registers",
    (
        ("manual", "D and A are vectors of registers; of repeated ones it says nothing"),
        ("ptxas", "takes registers that stand more than once in D, or in D and A"),
    ),
    _INVALID,
    _RUN,
)
WGMMA_SELECTOR = Contradiction(
    "wgmma-sparse-selector",
    (
        ("manual, operands of wgmma.mma_async.sp", "the sparsity selector is 0 to 3"),
        ("manual, table of selectors; ptxas", "0 or 1 for 16-bit types and tf32, 0 for 8-bit types"),
    ),
    "as the table and ptxas have it",
    _RUN,
)
K_MAJOR_TF32_EXAMPLE = Contradiction(
    "wgmma-k-major-32-byte-example",
    (
        (
            "manual, figure of the K-major layout of tf32 with 32-byte swizzling",
            "64 bytes of K in a row of 32",
        ),
        ("the layout", "elements (0, 8) and (1, 0) lie at one address"),
    ),
    "a row has 32 bytes of K",
    "PTX ISA 9.7.15, its figure, two elements of which collide: ptx/descriptor/manual-example",
)

CONTRADICTIONS = (
    B1_A_COLUMNS, MIXED_SIGNEDNESS, F16_SPARSE_SELECTOR, FP8_SPARSE_K32, FP8_SPARSE_F16, F8F6F4_K16,
    UNSCALED_KINDS, BF16_M8N8K4, UNCHECKED_BIT_OPERATION, F8F6F4_TARGETS, FP8_K16_B, MANY_MATRICES,
    STMATRIX_TRANS, WMMA_F64_FRAGMENT, WMMA_F32_ACCUMULATOR, WMMA_ROUNDING_POSITION, F64_ROUNDING,
    BIT_OPERATION_POSITION, UE8M0_4X, EXAMPLE_OPERANDS, WMMA_STRIDE, LDMATRIX_ADDRESSES, TF32_K16,
    UNCHECKED_LAYOUT, UNCHECKED_CLASSES, UNCHECKED_CONSTANTS, REFUSED_SINK, BRACED_REGISTER, SM_88_VERSION,
    REPEATED_MODIFIER, WMMA_DEFAULT_STRIDE, WMMA_LINE_ALIGNMENT, HOPPER_FP8, WGMMA_INTEGER_N,
    WGMMA_MIXED_SIGNEDNESS, WGMMA_ALIGNED, WGMMA_LAYOUT, WGMMA_REPEATED_REGISTERS, WGMMA_SELECTOR,
    K_MAJOR_TF32_EXAMPLE,
)  # fmt: skip
"""Every contradiction known."""
