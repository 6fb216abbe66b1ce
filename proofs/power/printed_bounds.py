"""The bounds that are printed of Power's updates count the roundings of the ISA's pseudocode."""

from __future__ import annotations

from ...spec.power import catalogue
from ...spec.power.error_bounds import error_bounds
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from ..text_tables import rows
from .stated.instructions import UPDATES

_ROUNDINGS = """
family     | significand | alone | accumulating
xvf64ger   | 53          | 1     | 1
xvf32ger   | 24          | 1     | 1
xvf16ger2  | 24          | 1     | 2
xvbf16ger2 | 24          | 2     | 2
"""


printed = table_theorem(
    "power/numerics/printed-bound",
    "the printed bound counts the roundings of the pseudocode, with half an ulp to nearest, one otherwise",
    "∀ updates: of integers nothing is printed; of f32 and f64 one rounding, of bf16 two, of f16 one, or two "
    "with an accumulator, each by a factor of 1 + 2^-p, p the bits of the significand, or 1 + 2^-(p-1) if "
    "directed; |ACC| is in S ⇔ the update accumulates",
    "Power ISA 3.1B, VSX vector floating-point outer-product instructions",
    lambda: {"table": _printed},
)


def _printed() -> Certificate:
    families = {row["family"]: row for row in rows(_ROUNDINGS)}
    expected: dict[str, tuple[str, ...]] = dict.fromkeys(UPDATES, ())
    for name in UPDATES:
        family = next((each for each in families if name.startswith(each)), None)
        if family is None:
            continue
        accumulating = name != family
        column = "accumulating" if accumulating else "alone"
        power = "^2" if families[family][column] == "2" else ""
        p = int(families[family]["significand"])
        bounds = [f"|D - exact| ≤ ((1 + 2^-{bits}){power} - 1)·S" for bits in (p, p - 1)]
        expected[name] = (*bounds, f"S = {'|ACC| + ' * accumulating}sum(|X·Y|)")

    def said(name: str) -> tuple[str, ...]:
        lines = tuple(error_bounds(catalogue.UPDATES[name]))
        bounds = (line.partition(": ")[2].partition(", about")[0] for line in lines[:-1])
        return (*bounds, *(line.partition("; ")[0] for line in lines[-1:]))

    return answered(expected, said)


THEOREMS = (printed,)
