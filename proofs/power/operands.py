"""The variables that theorems on rank-k updates quantify over, and the spec applied to them."""

from __future__ import annotations

from typing import Any

from ...spec.algebra import Algebra, Array
from ...spec.power import rank_k_update as spec
from ...spec.power.catalogue import RankKUpdate
from ...spec.power.choices import Choices
from ...spec.power.rank_k_update import Live
from ..obligation import RN, Inputs, Variable, immediate


def operand_variables(update: RankKUpdate, *, masks: bool = True) -> tuple[Variable, ...]:
    """Return x, y, acc, the masks and, for floats, the rounding direction."""
    family = update.family
    variables = [
        Variable("x", family.x, (4, family.rank)),
        Variable("y", family.y, (family.columns, family.rank)),
        Variable("acc", family.result, (4, family.columns)),
    ]
    if masks:
        variables += [Variable("xmsk", immediate(4)), Variable("ymsk", immediate(family.columns))]
        if family.rank > 1:
            variables.append(Variable("pmsk", immediate(family.rank)))
    if is_float(update):
        variables.append(Variable("rounding", RN))
    return tuple(variables)


def is_float(update: RankKUpdate) -> bool:
    """Tell whether a rank-k update rounds."""
    return "f" in update.family.name


def live(alg: Algebra, update: RankKUpdate, v: Inputs) -> Live:
    """Return the conditions of the mask variables; a mask that is no variable is all ones."""
    family = update.family

    def mask(name: str, width: int) -> Array:
        return alg.flags(v.get(name, (1 << width) - 1), width)

    return Live(mask("xmsk", 4), mask("ymsk", family.columns), mask("pmsk", family.rank))


def updated(alg: Algebra, update: RankKUpdate, v: Inputs, choices: Choices, **replaced: Any) -> Array:
    """Apply the spec of a rank-k update to the variables, some of them replaced."""
    values = {**v, **replaced}
    masks = values["live"] if "live" in values else live(alg, update, values)
    return spec.rank_k_update(
        alg, update, values["x"], values["y"], values["acc"], masks, values.get("rounding"), choices
    )
