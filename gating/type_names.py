"""What MLIR, CUTLASS, NumPy and others call the element types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

TYPE_COLUMNS = ("d", "a", "b", "c", "scale_type", "type")
"""The columns whose cells are element types."""

_SPELLED: Mapping[str, str] = MappingProxyType(
    {
        "half": "f16", "fp16": "f16", "float16": "f16", "half_t": "f16", "bfloat16": "bf16",
        "bfloat16_t": "bf16", "float": "f32", "fp32": "f32", "float32": "f32", "double": "f64", "fp64": "f64",
        "float64": "f64", "tfloat32_t": "tf32", "i1": "b1", "uint1b_t": "b1", "bin1": "b1", "uint1": "b1",
        "int4b_t": "s4", "uint4b_t": "u4",
        "f8e4m3fn": "e4m3", "f8e5m2": "e5m2", "f6e3m2fn": "e3m2", "f6e2m3fn": "e2m3", "f4e2m1fn": "e2m1",
        "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float4_e2m1fn": "e2m1", "float_e4m3_t": "e4m3",
        "float_e5m2_t": "e5m2", "float_e3m2_t": "e3m2", "float_e2m3_t": "e2m3", "float_e2m1_t": "e2m1",
        "f8e8m0fnu": "ue8m0", "float8_e8m0fnu": "ue8m0", "float_ue8m0_t": "ue8m0", "float_ue4m3_t": "ue4m3",
    }
)  # fmt: skip

_INTEGER = re.compile(r"(?:s|(u))?i(?:nt)?([0-9]+)(?:_t)?")


def type_name(value: str) -> str:
    """Return an element type as PTX would call it; an integer without a sign is signed."""
    low = value.strip().lower()
    if low not in _SPELLED and (match := _INTEGER.fullmatch(low)):
        return f"{match[1] or 's'}{match[2]}"
    return _SPELLED.get(low, low)
