"""A whole PTO file: functions, loops, memory, synchronisation, and the instructions between them.

Statements stand in the order of the text, with their regions; names, constants and bounds are as
written. What has no class of its own is kept as `Other`, so that a file is read even where it uses
dialects that mmaproof does not model.

Source: PTO IR manual; ptoas at a56b18c3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .syntax import Attributes, Region, Statement, Structured, behind, defined, dictionary
from .types import Type

_VALUE = re.compile(r"%(?:[\w$.]|-(?!>))+(?:#\d+)?", re.ASCII)


@dataclass(frozen=True)
class Module(Structured):
    """A file, or a ``module`` inside of one.

    Attributes
    ----------
    body : Region
        Its statements.
    attributes : tuple of (str, str)
        Such as ``pto.target_arch``.
    name : str, optional
        ``@name``.
    explicit : bool
        Whether the text says ``module``; a listing of statements does not.
    path : str, optional
        The file.
    """

    body: Region
    attributes: Attributes = ()
    name: str | None = None
    explicit: bool = True
    path: str | None = field(default=None, compare=False)

    def _parts(self) -> Iterator[str | Region]:
        named = f"module {_symbol(self.name)}" if self.name else "module"
        yield named + (f" attributes {dictionary(self.attributes)}" if self.attributes else "")
        yield self.body

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in (self if self.explicit else self.body).lines())

    @property
    def target(self) -> str | None:
        """The processor that it, or the first module inside of it, says it is for (``pto.target_arch``)."""
        for module in (self, *(each for each in self.body if isinstance(each, Module))):
            if (written := dict(module.attributes).get("pto.target_arch")) is not None:
                return written.partition(" : ")[0].strip('"')
        return None

    def walk(self) -> Iterator[Statement]:
        """Yield every statement, outer ones first, in the order of the text."""
        return self.body.walk()


@dataclass(frozen=True)
class Function(Structured):
    """``func.func``; ``body`` is None for a declaration, whose parameters have no names."""

    name: str
    parameters: tuple[Parameter, ...]
    result_types: tuple[Type, ...] = ()
    attributes: Attributes = ()
    body: Region | None = None
    visibility: str | None = None

    def _parts(self) -> Iterator[str | Region]:
        visibility = f"{self.visibility} " if self.visibility else ""
        returned = f" -> {_listed(self.result_types)}" if self.result_types else ""
        attributes = f" attributes {dictionary(self.attributes)}" if self.attributes else ""
        head = f"{visibility}{_symbol(self.name)}({', '.join(map(str, self.parameters))})"
        yield f"func.func {head}{returned}{attributes}"
        if self.body is not None:
            yield self.body


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function."""

    name: str | None
    type: Type
    attributes: Attributes = ()

    def __str__(self) -> str:
        return (f"{self.name}: " if self.name else "") + f"{self.type}{behind(self.attributes)}"


@dataclass(frozen=True)
class Loop(Structured):
    """``scf.for variable = lower to upper step step``.

    Attributes
    ----------
    results, result_types : tuple
        What the loop returns, from its last ``scf.yield``.
    carried : tuple of (str, str)
        The names it carries from one trip to the next, and what they start from.
    index_type : Type, optional
        Of the variable; ``index`` where the text gives none.
    """

    variable: str
    lower: str
    upper: str
    step: str
    body: Region
    results: tuple[str, ...] = ()
    carried: tuple[tuple[str, str], ...] = ()
    result_types: tuple[Type, ...] = ()
    index_type: Type | None = None
    unsigned: bool = False
    attributes: Attributes = ()

    def _parts(self) -> Iterator[str | Region]:
        starts = ", ".join(f"{name} = {start}" for name, start in self.carried)
        carried = f" iter_args({starts}) -> {_listed(self.result_types)}" if self.carried else ""
        unsigned = "unsigned " if self.unsigned else ""
        index_type = "" if self.index_type is None else f" : {self.index_type}"
        bounds = f"{self.variable} = {self.lower} to {self.upper} step {self.step}"
        yield f"{defined(self.results)}scf.for {unsigned}{bounds}{carried}{index_type}"
        yield self.body
        if self.attributes:
            yield dictionary(self.attributes)


@dataclass(frozen=True)
class Conditional(Structured):
    """``scf.if``; ``otherwise`` is None where there is no ``else``."""

    condition: str
    body: Region
    otherwise: Region | None = None
    results: tuple[str, ...] = ()
    result_types: tuple[Type, ...] = ()
    attributes: Attributes = ()

    def _parts(self) -> Iterator[str | Region]:
        returned = f" -> {_listed(self.result_types)}" if self.result_types else ""
        yield f"{defined(self.results)}scf.if {self.condition}{returned}"
        yield self.body
        if self.otherwise is not None:
            yield "else"
            yield self.otherwise
        if self.attributes:
            yield dictionary(self.attributes)


@dataclass(frozen=True)
class Other(Structured):
    """A statement of an operation that mmaproof does not model, as it stands.

    Attributes
    ----------
    name : str
        Of the operation; of a label (``^bb0``) or an attribute alias (``#map``), that.
    results : tuple of str
        What it defines.
    pieces : tuple of str or Region
        What follows the name: text, blanks normalised, and regions.
    """

    name: str
    results: tuple[str, ...] = ()
    pieces: tuple[str | Region, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """Every SSA value its text mentions."""
        return tuple(
            name for piece in self.pieces if isinstance(piece, str) for name in _VALUE.findall(piece)
        )

    def _parts(self) -> Iterator[str | Region]:
        yield defined(self.results) + self.name
        yield from self.pieces


def _listed(types: Sequence[Type]) -> str:
    return f"({', '.join(map(str, types))})"


def _symbol(name: str) -> str:
    return f"@{name}" if re.fullmatch(r"[\w.$-]+", name, re.ASCII) else f'@"{name}"'
