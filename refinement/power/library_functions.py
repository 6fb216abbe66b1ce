"""Built-in models of functions of the C library that copy and fill memory.

Source: ISO/IEC 9899:2018 section 7.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ...spec.errors import UnsupportedError
from .machine import Machine, Modelled
from .state.words import known

_MOST = 1 << 24
"""Bytes of a call."""


def _arguments(machine: Machine, name: str) -> tuple[int, int]:
    """Return the address that is written, and how many bytes."""
    target = known(f"an address of {name}", machine.registers.general[3])
    count = known(f"the length of {name}", machine.registers.general[5])
    if count > _MOST:
        raise UnsupportedError(f"{name} of {count} bytes; at most {_MOST} are modelled")
    return target, count


def _copy(name: str) -> Modelled:
    def model(machine: Machine) -> None:
        target, count = _arguments(machine, name)
        source = known(f"an address of {name}", machine.registers.general[4])
        if name == "memcpy" and abs(source - target) < count:
            raise UnsupportedError("memcpy between bytes that overlap, which is undefined")
        if count:
            machine.save(target, machine.load(source, count, name), name)

    return model


def _fill(machine: Machine) -> None:
    target, count = _arguments(machine, "memset")
    if count:
        terms, lows = machine.bytes_of(machine.registers.general[4], 1)
        machine.save(target, (np.repeat(terms, count), np.repeat(lows, count)), "memset")


FUNCTIONS: Mapping[str, Modelled] = MappingProxyType(
    {"memcpy": _copy("memcpy"), "memmove": _copy("memmove"), "memset": _fill}
)
"""What functions of libraries do, by their names."""
