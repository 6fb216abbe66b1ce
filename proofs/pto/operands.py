"""The operands of products by element types, and products with one reading of the open points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ...spec.algebra import Algebra, Array
from ...spec.formats import UE8M0, FloatFormat, Format, IntegerFormat, as_float
from ...spec.pto.catalogue import OPERATIONS, triples
from ...spec.pto.choices import ADDED_LAST, SEEDED, UNSPECIFIED, Choices
from ...spec.pto.products import product
from ...spec.pto.targets import A5
from ..families import block_products
from ..families.block_products import BlockOperand
from ..obligation import Inputs, Variable

Formats = Mapping[str, Format]

SEEDED_CHOICES = Choices(accumulation=SEEDED)
ADDED_LAST_CHOICES = Choices(accumulation=ADDED_LAST)
ARBITRARY_CHOICES = Choices(accumulation=UNSPECIFIED)

WRAPPING = f"integer-overflow={Choices().integer_overflow}"
"""The reading that products of integers depend on."""


def reading(choices: Choices, *further: str) -> str:
    """Return the readings that a float product of rows and columns depends on, and `further` points of it.

    What holds however products are accumulated holds of factors and sums that are rounded or flushed, too.
    """
    if choices.accumulation == UNSPECIFIED:
        return f"accumulation={UNSPECIFIED}"
    points = ("accumulation", "accumulator-rounding", "tf32", "subnormals", *further)
    return ", ".join(f"{point}={getattr(choices, point.replace('-', '_'))}" for point in points)


STARTS = MappingProxyType({"": (), ".acc": ("c",), ".bias": ("bias",)})
"""What the sums of the forms start from, by the suffix of their names."""


def typed(*, microscaled: bool = False) -> dict[str, Formats]:
    """Return the formats of the operands of every product by its types: ``f16-f16-f32``."""
    found: dict[str, Formats] = {}
    for triple in triples(A5, OPERATIONS["tmatmul.mx" if microscaled else "tmatmul"]):
        result = triple.accumulator.format
        assert result is not None
        for a in triple.factors:
            for b in triple.factors:
                if a.format is None or b.format is None:
                    continue
                formats: dict[str, Format] = {"a": a.format, "b": b.format}
                formats |= dict.fromkeys(("c", "d", "bias"), result)
                if microscaled:
                    formats |= {"scale_a": UE8M0, "scale_b": UE8M0}
                found[f"{a.format}-{b.format}-{result}"] = formats
    return found


def is_integer(formats: Formats) -> bool:
    """Tell whether sums are of integers."""
    return isinstance(formats["d"], IntegerFormat)


def floating(formats: Formats, role: str) -> FloatFormat:
    """Return the format of a float operand."""
    return as_float(formats[role])


def operands_of(formats: Formats, k: int, *roles: str) -> dict[str, BlockOperand]:
    """Return A, B and what else is named of ``c``, ``bias``, ``p``, ``q`` (partial sums), of k products."""
    axes: dict[str, tuple[str | int, ...]] = {"a": ("m", k), "b": (k, "n"), "bias": (1, "n")}
    return {
        role: BlockOperand(formats.get(role, formats["d"]), axes.get(role, ("m", "n")))
        for role in ("a", "b", *roles)
    }


def variables(formats: Formats, extents: tuple[int, int, int], *roles: str) -> tuple[Variable, ...]:
    """Return the variables of `operands_of` for m, k, n."""
    m, k, n = extents
    return block_products.variables(operands_of(formats, k, *roles), m, n)


def multiplied(
    alg: Algebra,
    suffix: str,
    v: Inputs,
    formats: Formats,
    choices: Choices = SEEDED_CHOICES,
    lanes: slice = slice(None),
    start: Mapping[str, Array] = MappingProxyType({}),
) -> Array:
    """Return D of tmatmul, or of the form with a suffix (``.acc``, ``.bias``), on a slice of K.

    `start` has what the form adds: ``c`` or ``bias``.
    """
    return product(
        alg, OPERATIONS["tmatmul" + suffix], v["a"][..., lanes], v["b"][..., lanes, :], formats=formats,
        choices=choices, **start,
    )  # fmt: skip


def float_types() -> Iterator[tuple[str, Formats]]:
    """Yield the products of floats."""
    return ((name, formats) for name, formats in typed().items() if not is_integer(formats))
