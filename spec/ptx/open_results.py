"""Results that PTX leaves open.

Section numbers are those of the PTX ISA 9.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..open_results import COMPUTED_NAN, OpenResult

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
            *(_register(f"%{name}", _ANY, "10.22 to 10.24") for name in ("clock", "clock_hi", "clock64")),
            *(_register(f"%globaltimer{half}", _ANY, "10.28") for half in ("", "_lo", "_hi")),
            *(_register(f"%pm{number}", _ANY, "10.25") for number in range(8)),
            *(_register(f"%pm{number}_64", _ANY, "10.26") for number in range(8)),
            *(_register(f"%envreg{number}", f"{_ANY}: the driver's", "10.27") for number in range(32)),
            _register("%current_graph_exec", f"{_ANY}: an identifier", "10.35"),
        )
    }
)
"""Special registers of whose values nothing is promised, by name."""

QUOTIENT_BY_ZERO = OpenResult(
    "an integer quotient by zero",
    ("div", "rem"),
    "all bits where the divisor is 0",
    "PTX ISA 9.1 sections 9.7.1.9 and 9.7.1.10: an unspecified, machine-specific value",
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
    "PTX ISA 9.1 sections 8.10 and 9.7.13.5",
)
BARRIER_STATE = OpenResult(
    "the state of a barrier object",
    ("mbarrier.init", "mbarrier.arrive", "mbarrier.pending_count"),
    "all bits: an opaque number",
    "PTX ISA 9.1 section 9.7.13.15",
)
POLLED = OpenResult(
    "the answer of a poll",
    ("mbarrier.test_wait", "mbarrier.try_wait"),
    "whether the phase is over yet",
    "PTX ISA 9.1 section 9.7.13.15.16",
)
UNWRITTEN_REGISTER = OpenResult(
    "a register that nobody has written",
    ("all instructions",),
    "all bits",
    "PTX ISA 9.1 section 5.1.1",
    undefined=True,
)
UNWRITTEN_MEMORY = OpenResult(
    "memory that nobody has written",
    ("ld", "ldmatrix", "cp.async", "wmma.load"),
    "the bytes concerned; shared and local memory begin so",
    "PTX ISA 9.1 sections 5.1.4 and 5.1.6",
    undefined=True,
)

OPEN_RESULTS = (
    COMPUTED_NAN,
    *SPECIAL_REGISTERS.values(),
    QUOTIENT_BY_ZERO,
    INACTIVE_LANE,
    CACHE_POLICY,
    DISCARDED,
    ATOMIC_RESULT,
    BARRIER_STATE,
    POLLED,
    UNWRITTEN_REGISTER,
    UNWRITTEN_MEMORY,
)
"""All of them."""
