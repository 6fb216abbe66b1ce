"""The bounds that are printed of PTO's products have the exponents of the documents' sums."""

from __future__ import annotations

from functools import partial
from itertools import product

from ...spec.pto.catalogue import OPERATIONS
from ...spec.pto.error_bounds import error_bounds
from ...spec.pto.resolution import applied
from ...spec.pto.targets import PROFILES
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .spelled import spelled_tile
from .stated import rules, tables

printed = table_theorem(
    "pto/numerics/printed-bound",
    "the printed bound counts a rounding for each product, and one where C or the bias is added last",
    "∀ operations and types of D, ∀ profiles that have them: of moves and integers nothing is printed; of "
    "floats the exponent is k, on the simulator k + 1 with an accumulator or a bias, and the unit 2^-24",
    "pto-isa headers (TMatmul, TGemv); pto-isa issue 280; IEEE 754, binary32",
    lambda: {profile: partial(_printed, profile) for profile in tables.PROFILES},
)


def _printed(profile: str) -> Certificate:
    expected: dict[tuple[str, str], tuple[str, ...]] = {}
    for name, element in product(rules.OPERATIONS, ("f32", "i32", "unknown")):
        if profile == "A2A3" and ".mx" in name:
            continue
        one_more = profile == "CPU" and name.endswith((".acc", ".bias"))
        floats = element != "i32" and name.startswith(("tmatmul", "tgemv"))
        formula = f"|D - exact| ≤ ((1 + 2^-24)^{'(k + 1)' if one_more else 'k'} - 1)·S"
        expected[name, element] = (formula,) * floats

    def said(name: str, element: str) -> tuple[str, ...]:
        known = {} if element == "unknown" else {"d": spelled_tile(f"acc 16x16x{element} Nz", profile)}
        lines = error_bounds(applied(OPERATIONS[name], known, PROFILES[profile]))
        return tuple(line.partition(": ")[2] for line in lines)

    return answered(expected, said)


THEOREMS = (printed,)
