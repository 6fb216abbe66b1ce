"""The variables that theorems on rank-k updates quantify over, and the spec applied to them."""

from __future__ import annotations

from typing import Any

from ...spec.algebra import Algebra, Array
from ...spec.formats import BF16
from ...spec.power import rank_k_update as spec
from ...spec.power.catalogue import UPDATES, FloatFamily, RankKUpdate
from ...spec.power.choices import Choices, every_choice
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


def readings(update: RankKUpdate) -> list[Choices]:
    """Return the readings of the open points that an update's arithmetic depends on."""
    if not is_float(update):
        return [Choices()]
    points = ["nan"]
    if update.family.x == BF16:
        points += ["bf16-sum", "bf16-direction"]
    if update.negative_product and update.family.rank == 1:
        points.append("negation")
    return list(every_choice(*points))


def is_float(update: RankKUpdate) -> bool:
    """Tell whether a rank-k update rounds."""
    return isinstance(update.family, FloatFamily)


def live(alg: Algebra, update: RankKUpdate, v: Inputs) -> Live:
    """Return the conditions of the mask variables; a mask that is no variable is all ones."""
    family = update.family

    def mask(name: str, width: int) -> Array:
        return alg.flags(v.get(name, (1 << width) - 1), width)

    return Live(mask("xmsk", 4), mask("ymsk", family.columns), mask("pmsk", family.rank))


def all_live(alg: Algebra, update: RankKUpdate) -> Live:
    """Return the masks of the word form: everything is live."""
    return live(alg, update, {})


INTEGER = tuple(update for update in UPDATES.values() if not is_float(update))
FLOAT = tuple(update for update in UPDATES.values() if is_float(update))


def updated(alg: Algebra, update: RankKUpdate, v: Inputs, choices: Choices, **replaced: Any) -> Array:
    """Apply the spec of a rank-k update to the variables, some of them replaced."""
    values = {**v, **replaced}
    masks = values["live"] if "live" in values else live(alg, update, values)
    return spec.rank_k_update(
        alg, update, values["x"], values["y"], values["acc"], masks, values.get("rounding"), choices
    )
