"""Scopes: PTX blocks may redeclare a register, variable or label.

A function's body is flattened, so a name that an inner block declares again gets another one, ``name$1``.

Source: PTX ISA 9.1 sections 4.4 and 5.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ....spec.errors import InputError
from ....spec.ptx.constant_expressions import WARP_SIZE
from ....spec.ptx.operands import Register, Scalar, Sink
from ....spec.ptx.special_registers import SPECIAL_REGISTERS
from .operands import Label, SpecialRegister, Symbol

_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)", re.ASCII)
_RANGE_LIMIT = 1 << 24

_EVERYWHERE: dict[str, Scalar] = {
    "_": Sink(),
    "WARP_SZ": WARP_SIZE,
    **{name: SpecialRegister(name, kind) for name, kind in SPECIAL_REGISTERS.items()},
}


@dataclass(slots=True)
class _Block:
    """What one block declares; numbered registers (``%r<100>``) get their names when they are met."""

    names: dict[str, Scalar] = field(default_factory=dict)
    ranges: dict[str, tuple[int, str]] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)


class Scopes:
    """The open scopes, innermost last.

    Parameters
    ----------
    symbols : iterable of str
        Variables and functions of the module.
    """

    def __init__(self, symbols: Iterable[str] = ()) -> None:
        self._taken = set(symbols)
        self._blocks = [_Block(names={**_EVERYWHERE, **{name: Symbol(name) for name in self._taken}})]
        self._taken.update(_EVERYWHERE)
        self.registers: dict[str, str] = {}
        """Types of the registers met so far, by unique name."""

    @property
    def known(self) -> dict[str, Scalar]:
        """Names resolved before in the innermost block."""
        return self._blocks[-1].names

    def open(self) -> None:
        """Enter a block."""
        self._blocks.append(_Block())

    def close(self) -> None:
        """Leave a block."""
        self._blocks.pop()

    def declare_label(self, name: str) -> None:
        """Declare a label; a block's labels are known before they are met."""
        self._declare(name)
        self.known[name] = Label(self._unique(name))

    def declare_register(self, name: str, kind: str) -> str:
        """Declare a register of a type, such as ``b32`` or ``v4.b32``, and return its unique name."""
        self._declare(name)
        register = self._register(name, kind)
        self.known[name] = register
        return register.name

    def declare_range(self, prefix: str, count: int, kind: str) -> None:
        """Declare ``prefix0`` to ``prefix{count - 1}``."""
        if count > _RANGE_LIMIT:
            raise InputError(
                f"{prefix}<{count}> declares too many registers; at most {_RANGE_LIMIT} are read"
            )
        ranges = self._blocks[-1].ranges
        if prefix in ranges:
            raise InputError(f"'{prefix}<{count}>' is declared twice in one block")
        ranges[prefix] = count, kind

    def declare_symbol(self, name: str) -> str:
        """Declare a variable or parameter, and return its unique name."""
        self._declare(name)
        unique = self._unique(name)
        self.known[name] = Symbol(unique)
        return unique

    def resolve(self, name: str) -> Scalar:
        """Return what a name means in the innermost block.

        Raises
        ------
        InputError
            If nothing declares it.
        """
        for block in reversed(self._blocks):
            found = block.names.get(name) or self._numbered(block, name)
            if found is not None:
                self.known[name] = found
                return found
        vector, dot, component = name.rpartition(".")
        if dot and vector:
            whole = self.resolve(vector)
            if isinstance(whole, Register) and whole.type is not None and whole.type.startswith("v"):
                element = Register(f"{whole.name}.{component}", whole.type.partition(".")[2])
                self.known[name] = element
                return element
            raise InputError(f"{vector!r} is not a vector, so there is no {name!r}")
        raise InputError(f"{name!r} is not declared here")

    def _numbered(self, block: _Block, name: str) -> Register | None:
        match = _NUMBERED.fullmatch(name) if block.ranges else None
        if match is None or match[1] not in block.ranges or len(match[2]) > 9:
            return None
        count, kind = block.ranges[match[1]]
        if int(match[2]) >= count:
            return None
        register = self._register(name, kind)
        block.names[name] = register
        return register

    def _register(self, name: str, kind: str) -> Register:
        unique = self._unique(name)
        self.registers[unique] = kind
        return Register(unique, kind)

    def _declare(self, name: str) -> None:
        block = self._blocks[-1]
        if name in block.declared:
            raise InputError(f"{name!r} is declared twice in one block")
        if name in _EVERYWHERE and (name not in SPECIAL_REGISTERS or "." in name):
            raise InputError(f"{name!r} can't be declared: PTX defines it")
        block.declared.add(name)

    def _unique(self, name: str) -> str:
        unique, count = name, 0
        while unique in self._taken:
            count += 1
            unique = f"{name}${count}"
        self._taken.add(unique)
        return unique
