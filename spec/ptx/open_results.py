"""Results that PTX leaves open, and those that it leaves open and all implementations give alike.

Section numbers are those of the PTX ISA 9.1, compared with its table of contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..open_results import COMPUTED_NAN, PLACEMENT, OpenResult

_ANY = "all bits, anew at every read"


def _register(name: str, bits: str, section: str) -> OpenResult:
    return OpenResult(name, (name,), bits, f"PTX ISA 9.1 section {section}")


SPECIAL_REGISTERS: Mapping[str, OpenResult] = MappingProxyType(
    {
        row.name: row
        for row in (
            _register("%warpid", f"{_ANY}: not tid / 32, and it may change while the thread runs", "10.4"),
            _register("%nwarpid", f"{_ANY}: the most warp identifiers, not the warps of the block", "10.5"),
            _register("%smid", f"{_ANY}: it may change while the thread runs", "10.8"),
            _register("%nsmid", f"{_ANY}: numbers of multiprocessors may have gaps", "10.9"),
            _register("%gridid", f"{_ANY}: one number for a launch, which the driver chooses", "10.10"),
            *(_register(f"%{name}", _ANY, "10.23") for name in ("clock", "clock_hi")),
            _register("%clock64", _ANY, "10.24"),
            *(_register(f"%globaltimer{half}", _ANY, "10.28") for half in ("", "_lo", "_hi")),
            *(_register(f"%pm{number}", _ANY, "10.25") for number in range(8)),
            *(_register(f"%pm{number}_64", _ANY, "10.26") for number in range(8)),
            *(_register(f"%envreg{number}", f"{_ANY}: the driver's", "10.27") for number in range(32)),
            _register(
                "%total_smem_size", f"{_ANY}: rounded up to what the target allocates at once", "10.30"
            ),
            _register("%aggr_smem_size", f"{_ANY}: with what system software reserves", "10.31"),
            _register("%current_graph_exec", f"{_ANY}: an identifier", "10.33"),
        )
    }
)
"""Special registers of whose values nothing is promised, by name."""

OPEN_QUOTIENT = OpenResult(
    "an integer quotient by zero, or one that overflows",
    ("div", "rem"),
    "all bits where the divisor is 0, or where the least number is divided by -1",
    "PTX ISA 9.1 sections 9.7.1.8 and 9.7.1.9: by zero an unspecified, machine-specific value; of overflow "
    "nothing is said",
)
BASE_OF_FNS = OpenResult(
    "the place that fns finds from a bit that a word does not have",
    ("fns",),
    "all bits where the base is 32 or more",
    "PTX ISA 9.1 section 9.7.1.17: the behavior is undefined",
)
APPROXIMATION = OpenResult(
    "the last bits of an approximation",
    ("div.approx", "div.full", "rcp.approx", "sqrt.approx", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"),
    "all but the results that the tables of special arguments give; equal arguments have equal results",
    "PTX ISA 9.1 sections 9.7.3.8, 9.7.3.13 to 9.7.3.22, 9.7.4.9 and 9.7.4.10: bounds of errors alone",
)
INACTIVE_LANE = OpenResult(
    "what a lane that does not take part holds",
    ("shfl",),
    "all bits, where the source lane is inactive or not in the mask",
    "PTX ISA 9.1 section 9.7.9.6",
    undefined=True,
)
CACHE_POLICY = OpenResult(
    "a cache policy", ("createpolicy",), "all bits: an opaque number", "PTX ISA 9.1 section 9.7.9.18"
)
DISCARDED = OpenResult(
    "discarded memory",
    ("discard",),
    "all bits of the memory",
    "PTX ISA 9.1 section 9.7.9.17",
    undefined=True,
)
ATOMIC_RESULT = OpenResult(
    "what an atomic operation returns",
    ("atom", "atom.cas", "atom.exch"),
    "which of the values that the place held, where nothing orders the operations",
    "PTX ISA 9.1 sections 8.10.3 and 9.7.13.5",
)
BARRIER_STATE = OpenResult(
    "the state of a barrier object",
    ("mbarrier.init", "mbarrier.arrive", "mbarrier.pending_count"),
    "all bits: an opaque number",
    "PTX ISA 9.1 section 9.7.13.15",
)
CANCELLATION = OpenResult(
    "the answer to a request to cancel the launch of a cluster",
    ("clusterlaunchcontrol.try_cancel",),
    "all 128 bits: an opaque number",
    "PTX ISA 9.1 section 9.7.13, clusterlaunchcontrol.try_cancel",
)
PLACE_OF_NONE = OpenResult(
    "the place of a cluster whose launch was not cancelled",
    ("clusterlaunchcontrol.query_cancel",),
    "all bits where no launch was cancelled, and those of the fourth register always",
    "PTX ISA 9.1 section 9.7.13, clusterlaunchcontrol.query_cancel",
)
POLLED = OpenResult(
    "the answer of a poll",
    ("mbarrier.test_wait", "mbarrier.try_wait"),
    "whether the phase is over yet",
    "PTX ISA 9.1 section 9.7.13.15, mbarrier.test_wait",
)
UNWRITTEN_REGISTER = OpenResult(
    "a register that was never written",
    ("all instructions",),
    "all bits",
    "PTX ISA 9.1 says of no register what it holds at first",
    undefined=True,
)
UNWRITTEN_MEMORY = OpenResult(
    "memory that was never written",
    ("ld", "ldmatrix", "cp.async", "wmma.load"),
    "the bytes concerned; shared and local memory begin so",
    "PTX ISA 9.1 section 8.2.6: unknown values; section 5.4.4: zeros of global variables without a value",
    undefined=True,
)
FRAGMENT = OpenResult(
    "which thread holds which element of a wmma fragment",
    ("wmma.load", "wmma.mma", "wmma.store"),
    "the places of the elements, alike for fragments of one kind",
    "PTX ISA 9.1 section 9.7.14.4.1",
)
MATRIX_SUMS = OpenResult(
    "in which order matrix instructions add, and how they round",
    ("mma", "wmma.mma"),
    "the order, the rounding and the subnormal numbers of sums of floats, unless `accumulate` or a choice "
    "says them",
    "PTX ISA 9.1 section 9.7.14.5, the description of mma: unspecified",
)

OPEN_RESULTS = (
    COMPUTED_NAN,
    *SPECIAL_REGISTERS.values(),
    OPEN_QUOTIENT,
    BASE_OF_FNS,
    APPROXIMATION,
    INACTIVE_LANE,
    CACHE_POLICY,
    DISCARDED,
    ATOMIC_RESULT,
    BARRIER_STATE,
    CANCELLATION,
    PLACE_OF_NONE,
    POLLED,
    UNWRITTEN_REGISTER,
    UNWRITTEN_MEMORY,
    FRAGMENT,
    MATRIX_SUMS,
    PLACEMENT,
)
"""All of them."""

TAKEN_ALIKE = (
    OpenResult(
        "the remainder of a negative number",
        ("rem",),
        "has the sign of the dividend, as in CUDA C++",
        "PTX ISA 9.1 section 9.7.1.9: machine-dependent",
    ),
    OpenResult(
        "the upper eight bits of the factors of mul24",
        ("mul24", "mad24"),
        "are ignored, as `__mul24` of CUDA C++ says",
        "PTX ISA 9.1 sections 9.7.1.5 and 9.7.1.6: silent",
    ),
    OpenResult(
        "arithmetic on 16 bits",
        ("add.u16", "mul.lo.u16", "shr.u16"),
        "keeps 16 bits",
        "PTX ISA 9.1 section 9.6.1: machine-specific",
    ),
    OpenResult(
        "the layout of tf32",
        ("cvt.rna.tf32.f32",),
        "is that of f32, with zeros for the last 13 bits",
        "PTX ISA 9.1 section 5.2.3: implementation defined",
    ),
    OpenResult(
        "subnormal sums in global memory",
        ("atom.add.f32", "red.add.f32"),
        "are zeros, though not in shared memory",
        "PTX ISA 9.1 section 9.7.13.5: of the current implementation",
    ),
    OpenResult(
        "the lanes that activemask finds",
        ("activemask",),
        "are those that branches bring there; each verdict that rests on it says so",
        "PTX ISA 9.1 section 9.7.13.11: active threads, whose convergence is not promised",
    ),
)
"""What the manual leaves open and the machine takes as all implementations give it."""
