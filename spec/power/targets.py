"""The processors, and what of the Power ISA they implement."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from ..errors import InputError


@dataclass(frozen=True)
class Target:
    """A processor.

    Attributes
    ----------
    name : str
        As in ``-mcpu``.
    isa : float
        The Power ISA version it implements (versions are ordered as decimal numbers).
    separate_accumulators : bool
        Whether accumulators are registers of their own, not associated with VSRs.
    """

    name: str
    isa: float
    separate_accumulators: bool = False


TARGETS = MappingProxyType(
    {
        target.name: target
        for target in (
            Target("power8", 2.07),
            Target("power9", 3.0),
            Target("power10", 3.1),
            Target("power11", 3.1),
            Target("future", 3.1, separate_accumulators=True),
        )
    }
)
"""Every target by name; ``future`` is what GCC and binutils call the dense-math draft."""


def target_named(name: str) -> Target:
    """Look a target up by name.

    Raises
    ------
    InputError
        If there is no such target.
    """
    try:
        return TARGETS[name]
    except KeyError:
        raise InputError(f"unknown target {name!r}; known: {', '.join(TARGETS)}") from None
