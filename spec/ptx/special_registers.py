"""Registers that the machine sets: ``mov`` and ``cvt`` read them, and so may vectors in other instructions.

Source: PTX ISA 9.1 chapter 10, which knows only ``mov`` and ``cvt``; ptxas of CUDA 13.0 for vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from .operands import Register

SPECIAL_REGISTERS: Mapping[str, str] = MappingProxyType(
    {
        **{
            f"%{prefix}{name}.{axis}": "u32"
            for prefix in ("", "n")
            for name in ("tid", "ctaid", "clusterid")
            for axis in "xyz"
        },
        **{f"%cluster_{name}.{axis}": "u32" for name in ("ctaid", "nctaid") for axis in "xyz"},
        **{f"%{name}": "u32" for name in ("laneid", "warpid", "nwarpid", "smid", "nsmid")},
        **{f"%{name}": "u32" for name in ("cluster_ctarank", "cluster_nctarank", "clock", "clock_hi")},
        **{f"%{kind}_smem_size": "u32" for kind in ("total", "aggr", "dynamic")},
        **{f"%globaltimer{half}": "u32" for half in ("_lo", "_hi")},
        **{f"%lanemask_{name}": "u32" for name in ("eq", "le", "lt", "ge", "gt")},
        **{f"%{name}": "u64" for name in ("gridid", "clock64", "globaltimer", "current_graph_exec")},
        **{f"%pm{number}": "u32" for number in range(8)},
        **{f"%pm{number}_64": "u64" for number in range(8)},
        **{f"%envreg{number}": "b32" for number in range(32)},
        **{f"%reserved_smem_offset_{name}": "b32" for name in ("begin", "end", "cap", "0", "1")},
        "%is_explicit_cluster": "pred",
    }
)
"""Special registers with their types."""

SPECIAL = ".special"
"""The type of a special register where an operand is judged."""

PREDEFINED: Mapping[str, str] = MappingProxyType(dict.fromkeys(SPECIAL_REGISTERS, SPECIAL))
"""Types of the names that nobody declares."""

_Scalar = TypeVar("_Scalar", bound=object)


def as_read(element: _Scalar) -> _Scalar | Register:
    """Return an element of a vector that is read, a special register with the type that it has."""
    if isinstance(element, Register) and element.type == SPECIAL:
        return Register(element.name, SPECIAL_REGISTERS[element.name])
    return element
