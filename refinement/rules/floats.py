"""Encodings of floats: rules of `equality.truncated_floats` and `normal_forms.identities`.

Sides are the same number, or both NaN; a 0 has no sign here, as over the reals.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .rule import Rule, Source, Theory

_BITS = "equality.truncated_floats:TruncatedFloats."
_IDLE = "normal_forms.identities:IdleOperations."


_NONE: Mapping[str, str] = MappingProxyType({})


def _rule(
    name: str,
    left: str,
    right: str,
    place: str,
    supposed: str = "",
    fails: Mapping[str, str] = _NONE,
    **sorts: str,
) -> Rule:
    return Rule(
        f"floats/{name}", Theory.FLOAT, left, right, place, supposed=supposed, fails=fails, sorts=sorts
    )


SIGNS = (
    _rule("magnitude-by-mask", "sign_cleared(x)", "max(x, -x)", _BITS + "_with_signs", x="f32"),
    _rule("minus-magnitude-by-mask", "sign_set(x)", "-max(x, -x)", _BITS + "_with_signs", x="f32"),
    _rule("opposite-by-flipped-bit", "sign_flipped(x)", "-x", _BITS + "_with_signs", x="f32"),
)

CUT = (
    Rule(
        "floats/high-half", Theory.FLOAT, "as_bf16(x)", "toward_zero_bf16(x)", _BITS + "_conversions",
        supposed="is_number(x)", fails={"x": "0x7f800001"}, sorts={"x": "f32"}, source=Source.DERIVATION,
    ),
    Rule(
        "floats/low-bits-cleared", Theory.FLOAT, "as_tf32(x)", "toward_zero_tf32(x)", _BITS + "_conversions",
        supposed="is_number(x)", fails={"x": "0x7f800001"}, sorts={"x": "f32"}, source=Source.DERIVATION,
    ),
    *(
        Rule(
            f"floats/{name}-{narrow}", Theory.FLOAT, f"{left}_{narrow}(x)", f"{right}_{narrow}(x)",
            _BITS + "_rounded", supposed="is_number(x)", fails={"x": "0x7fffffff"}, sorts={"x": "f32"},
            source=Source.DERIVATION,
        )
        for name, left, right in (
            ("carry-to-nearest", "carried", "nearest"), ("half-added", "half_added", "nearest_away"),
        )
        for narrow in ("bf16", "tf32")
    ),
    *(
        Rule(
            f"floats/bits-added-{narrow}", Theory.FLOAT, f"added_{narrow}(x, r)",
            f"neighbour_{narrow}(x, r)",
            _BITS + "_to_neighbours", supposed="is_number(x)", fails={"x": "0x7f800001", "r": "0x00000000"},
            sorts={"x": "f32", "r": "f32"}, source=Source.DERIVATION,
        )
        for narrow in ("bf16", "tf32")
    ),
    _rule("zeros-behind-half", "as_f32(x)", "widened(x)", _IDLE + "_widened", x="bf16"),
    _rule("small-format-again", "to_e5m2(widened_e5m2(x))", "x", "analysis.quantisation:unchanged", x="e5m2"),
)  # fmt: skip

INFINITIES = (
    _rule("greatest-beside-minus-infinity", "max(x, -infinity())", "x", _IDLE + "equal", "is_number(x)",
          fails={"x": "0x7fff"}),
    _rule("least-beside-infinity", "min(x, infinity())", "x", _IDLE + "equal", "is_number(x)",
          fails={"x": "0x7fff"}),
    _rule("greatest-beside-nan", "max(x, nan())", "x", _IDLE + "_is_nan"),
    _rule("chosen-beside-infinity", "where(x > -infinity(), x, -infinity())", "x", _IDLE + "_chosen",
          "is_number(x)", fails={"x": "0x7fff"}),
)  # fmt: skip

RULES = (*SIGNS, *CUT, *INFINITIES)
