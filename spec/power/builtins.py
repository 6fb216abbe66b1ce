"""The GCC built-ins for MMA, on vectors as register images.

A ``vector unsigned char`` is a VSR image (…, 16), a ``__vector_pair`` (…, 2, 16), a
``__vector_quad`` (…, 4, 16), in ISA byte order. Source: GCC manual, "PowerPC Matrix-Multiply Assist
Built-in Functions"; argument orders were measured on both byte orders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from ..algebra import Algebra, Array
from ..errors import InputError
from ..formats import S32
from ..rounding import Rounding
from .catalogue import UPDATES, RankKUpdate
from .choices import Choices
from .forms import mask_widths
from .memory import Endian, load, store
from .rank_k_update import Live, rank_k_update
from .registers import accumulator_fragment, x_fragment, y_fragment

PREFIX = "__builtin_mma_"


@cache
def rank_k_updates() -> Mapping[str, tuple[RankKUpdate, bool]]:
    """Return the 58 rank-k update built-ins by name: the update, and whether masks follow the operands."""
    return MappingProxyType(
        {
            PREFIX + prefix + mnemonic: (update, bool(prefix))
            for mnemonic, update in UPDATES.items()
            for prefix in ("", "pm")
        }
    )


def live_products(alg: Algebra, update: RankKUpdate, masks: tuple[Any, ...] | None) -> Live:
    """Return the masks of an instruction as conditions; None is the word form.

    Raises
    ------
    InputError
        If the number of masks is wrong, or a mask has bits beyond its width.
    """
    widths = mask_widths(update.family)
    values = tuple((1 << width) - 1 for width in widths.values()) if masks is None else masks
    if len(values) != len(widths):
        raise InputError(f"pm{update.mnemonic} takes {len(widths)} masks, not {len(values)}")
    for (name, width), value in zip(widths.items(), values, strict=True):
        if isinstance(value, int) and not 0 <= value < 1 << width:
            raise InputError(f"{name} of pm{update.mnemonic} must be 0 to {(1 << width) - 1}, not {value}")
    flags = [alg.flags(value, width) for value, width in zip(values, widths.values(), strict=True)]
    if len(flags) == 2:
        flags.append(alg.flags(1, 1))
    return Live(*flags)


@dataclass(frozen=True)
class Builtins:
    """The built-ins of one machine.

    Attributes
    ----------
    alg : Algebra
        What bytes are.
    endian : Endian
        Byte order the program was compiled for.
    rounding : Rounding
        FPSCR.RN.
    choices : Choices
        Readings of the open points.
    """

    alg: Algebra
    endian: Endian
    rounding: Rounding | Any = Rounding.NEAREST_EVEN
    choices: Choices = field(default_factory=Choices)

    # -- accumulators and pairs
    def assemble(self, *vectors: Array) -> Array:
        """``assemble_acc`` and ``assemble_pair``: the first vector goes to the lowest-numbered VSR."""
        return np.stack(vectors, axis=-2)

    def build(self, *vectors: Array) -> Array:
        """``build_acc`` and ``build_pair``: as `assemble`, reversed on little-endian."""
        return self.assemble(*(vectors if self.endian is Endian.BIG else vectors[::-1]))

    def disassemble(self, group: Array) -> Array:
        """``disassemble_acc`` and ``disassemble_pair``: the bytes stored, (…, 64) or (…, 32)."""
        return store(group, self.endian)

    def load_vector(self, data: Array) -> Array:
        """Dereference a vector pointer: 16 bytes to a register image (``lxv``)."""
        return load(data, self.endian)[..., 0, :]

    def load_pair(self, data: Array) -> Array:
        """``__builtin_vsx_lxvp``: 32 bytes to a pair."""
        return load(data, self.endian)

    def set_to_zero(self) -> Array:
        """``xxsetaccz``."""
        zeros = np.broadcast_to(self.alg.constant(0, S32), (4, 4))
        return accumulator_fragment(S32).scatter(self.alg, zeros)

    # -- rank-k updates
    def rank_k_update(self, name: str, acc: Array | None, x: Array, y: Array, *masks: Any) -> Array:
        """Call a rank-k update built-in.

        Parameters
        ----------
        name : str
            With or without ``__builtin_mma_``.
        acc : array (…, 4, 16), optional
            The old accumulator; not needed by a form that does not accumulate.
        x, y : array
            Vectors (…, 16); x of f64 is a pair (…, 2, 16).
        masks : int
            XMSK, YMSK and PMSK of a ``pm`` built-in, in ISA bit order.

        Returns
        -------
        array (…, 4, 16)
            The new accumulator.

        Raises
        ------
        InputError
            If there is no such built-in, or masks or the accumulator don't fit it.
        """
        full_name = name if name.startswith(PREFIX) else PREFIX + name
        if full_name not in rank_k_updates():
            raise InputError(f"unknown built-in {name!r}; known: {PREFIX}[pm]{{{', '.join(UPDATES)}}}")
        update, masked = rank_k_updates()[full_name]
        if not masked and masks:
            raise InputError(f"{full_name} takes no masks")
        if acc is None:
            if update.accumulates:
                raise InputError(f"{full_name} needs a primed accumulator")
            acc = self.set_to_zero()
        family = update.family
        accumulator = accumulator_fragment(family.result)
        pair = x if family.x_registers == 2 else x[..., None, :]
        value = rank_k_update(
            self.alg,
            update,
            x_fragment(family).gather(self.alg, pair),
            y_fragment(family).gather(self.alg, y[..., None, :]),
            accumulator.gather(self.alg, acc),
            live_products(self.alg, update, masks if masked else None),
            self.rounding,
            self.choices,
        )
        return accumulator.scatter(self.alg, value)
