"""Definitions: names for subformulas, expanded where they are used."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any

from .index_arithmetic import unknown_name
from .tree import Bound, Element, Name, Node, Reduction, Source, walk

MOST_NODES = 20_000
"""Parts of a formula whose definitions are put in."""


@dataclass(frozen=True)
class Definition:
    """What a name stands for.

    Attributes
    ----------
    name : str
        The name.
    indices : tuple of str
        What its indices are called in the body; none for a plain name.
    body : Node
        The part, without other names for parts.
    source : Source
        Where it is defined.
    """

    name: str
    indices: tuple[str, ...]
    body: Node
    source: Source

    def check_names(self, known: Collection[str]) -> None:
        """Refuse a name that is neither known nor an index, though no formula uses the part."""
        parts = list(walk(self.body))
        sums = (part.indices for part in parts if isinstance(part, Reduction))
        known = {*known, *self.indices, *(index.name for indices in sums for index in indices)}
        for part in parts:
            if isinstance(part, Name | Element) and _called(part) not in known:
                raise unknown_name(self.source, part, sorted(known))


def _called(node: Name | Element) -> str:
    return node.name if isinstance(node, Name) else node.array


def expanded(
    source: Source, node: Node, definitions: Mapping[str, Definition], indices: Iterable[Name] = ()
) -> Node:
    """Return a formula's part with what names stand for in their place.

    Parameters
    ----------
    source, node : Source, Node
        The formula and its part.
    definitions : mapping of str to Definition
        By name.
    indices : iterable of Name
        Indices of the formula's target, which must be called otherwise.

    Raises
    ------
    InputError
        If a name has other indices than its definition, an index is called like one, or the formula gets
        too long.
    """
    expansion = _Expansion(source, definitions)
    expansion.check_indices(indices)
    return expansion.of(node) if definitions else node


class _Expansion:
    def __init__(self, source: Source, definitions: Mapping[str, Definition]) -> None:
        self._source = source
        self._definitions = definitions
        self._fresh = count(1)
        self._nodes = 0

    def of(self, node: Node) -> Node:
        """Return a part with all names in it put in."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise self._source.error(
                node.at, f"with its definitions expanded, the formula has more than {MOST_NODES} parts"
            )
        match node:
            case Reduction():
                self.check_indices(node.indices)
            case Name(name=name) if name in self._definitions:
                return self._put_in(node, name, ())
            case Element(array=name) if name in self._definitions:
                return self._put_in(node, name, tuple(self.of(index) for index in node.indices))
        return rebuilt(node, self.of)

    def check_indices(self, indices: Iterable[Bound | Name]) -> None:
        """Refuse indices that are called like a part."""
        for index in indices:
            if index.name in self._definitions:
                raise self._source.error(
                    index.at, f"{index.name} is the name of a definition; choose another name for the index"
                )

    def _put_in(self, node: Node, name: str, indices: tuple[Node, ...]) -> Node:
        definition = self._definitions[name]
        if len(indices) != len(definition.indices):
            raise self._source.error(
                node.at, f"{name} is defined with {len(definition.indices)} indices, not {len(indices)}"
            )
        self._nodes += sum(1 for _ in walk(definition.body))
        return self._replaced(definition.body, node.at, dict(zip(definition.indices, indices, strict=True)))

    def _replaced(self, node: Node, at: int, names: Mapping[str, Node]) -> Node:
        """Return a part with names replaced, its own indices named anew, and its place that of the use."""
        match node:
            case Name(name=name) if name in names:
                return names[name]
            case Reduction():
                own = {bound.name: Name(at, f"{bound.name}'{next(self._fresh)}") for bound in node.indices}
                names = {**names, **own}
        found = rebuilt(node, lambda each: self._replaced(each, at, names), at)
        if isinstance(node, Reduction) and isinstance(found, Reduction):
            renamed = zip(found.indices, node.indices, strict=True)
            return replace(
                found, indices=tuple(replace(new, name=own[old.name].name) for new, old in renamed)
            )
        return found


def rebuilt(node: Node, change: Any, at: int | None = None) -> Node:
    """Return a node with each of its parts changed."""

    def changed(value: Any) -> Any:
        if isinstance(value, Bound):
            extent = None if value.extent is None else change(value.extent)
            return replace(value, at=value.at if at is None else at, extent=extent)
        if isinstance(value, Node):
            return change(value)
        return tuple(changed(each) for each in value) if isinstance(value, tuple) else value

    parts: dict[str, Any] = {field.name: changed(getattr(node, field.name)) for field in fields(node)}
    if at is not None:
        parts["at"] = at
    return replace(node, **parts)
