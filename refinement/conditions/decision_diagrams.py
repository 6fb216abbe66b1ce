"""Reduced ordered decision diagrams with small integers at the leaves, hash-consed.

A diagram is a number. Those below `TERMINALS` are values; another is a condition and the diagrams of what is
so where it fails and where it holds. Equal functions are the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...spec.errors import UnsupportedError

TERMINALS = 128
"""Values are less than this: sets of seven classes."""

MOST_CONDITIONS = 300
"""Conditions that one value depends on; recursion goes one level down for each."""

MOST_NODES = 1 << 20
"""Nodes of all diagrams of a comparison: some 300 MB."""

Node = tuple[int, int, int]
"""A condition, and the diagrams where it fails and where it holds."""


class Diagrams:
    """A manager of decision diagrams; conditions are ordered by first use."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._heights: list[int] = []
        self._numbers: dict[Node, int] = {}
        self._results: dict[tuple[object, ...], int] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, condition: int, fails: int, holds: int) -> int:
        """Return the diagram that chooses by a condition whose number is less than those in the two.

        Raises
        ------
        UnsupportedError
            If there are too many nodes, or conditions.
        """
        if fails == holds:
            return fails
        key = condition, fails, holds
        found = self._numbers.get(key)
        if found is None:
            height = 1 + max(self._height(fails), self._height(holds))
            if len(self._nodes) >= MOST_NODES or height > MOST_CONDITIONS:
                raise UnsupportedError(
                    f"infinities or zeros depend on more than {MOST_CONDITIONS} conditions, "
                    f"or arise in more than {MOST_NODES} cases"
                )
            found = self._numbers[key] = TERMINALS + len(self._nodes)
            self._nodes.append(key)
            self._heights.append(height)
        return found

    def applied(self, name: object, function: Callable[..., int], *diagrams: int) -> int:
        """Return what a function of values makes of diagrams; `name` identifies the function for ever."""
        if all(diagram < TERMINALS for diagram in diagrams):
            return function(*diagrams)
        key = name, *diagrams
        found = self._results.get(key)
        if found is None:
            top = min(self._nodes[diagram - TERMINALS][0] for diagram in diagrams if diagram >= TERMINALS)
            sides = zip(*(self._sides(diagram, top) for diagram in diagrams), strict=True)
            fails, holds = (self.applied(name, function, *side) for side in sides)
            found = self._results[key] = self.node(top, fails, holds)
        return found

    def chosen(self, condition: int, then: int, otherwise: int, holds: int) -> int:
        """Return `then` where a diagram has the value `holds`, else `otherwise`."""
        return self.applied(
            ("chosen", holds), lambda value, one, other: one if value == holds else other,
            condition, then, otherwise,
        )  # fmt: skip

    def values(self, diagram: int) -> set[int]:
        """Return the values that a diagram has."""
        return {each for each in self._within(diagram) if each < TERMINALS}

    def _within(self, diagram: int) -> set[int]:
        """Return a diagram and all that are parts of it."""
        seen, pending = {diagram}, [diagram]
        while pending:
            each = pending.pop()
            below = self._nodes[each - TERMINALS][1:] if each >= TERMINALS else ()
            pending += [one for one in below if one not in seen]
            seen.update(below)
        return seen

    def value(self, diagram: int, holds: Callable[[int], bool]) -> int:
        """Return the value of a diagram where it is known which conditions hold."""
        while diagram >= TERMINALS:
            condition, *sides = self._nodes[diagram - TERMINALS]
            diagram = sides[holds(condition)]
        return diagram

    def cases(self, diagram: int, wanted: int) -> Iterator[dict[int, bool]]:
        """Yield the conditions that lead to a value, and whether they hold, the paths one by one."""
        leading = {wanted}  # a search that enters other diagrams may never come to the first path
        for each in sorted(self._within(diagram)):  # parts have smaller numbers
            if each >= TERMINALS and not leading.isdisjoint(self._nodes[each - TERMINALS][1:]):
                leading.add(each)
        yield from self._paths(diagram, wanted, leading)

    def _paths(self, diagram: int, wanted: int, leading: set[int]) -> Iterator[dict[int, bool]]:
        if diagram == wanted:
            yield {}
        elif diagram in leading:
            condition, *sides = self._nodes[diagram - TERMINALS]
            for side in (False, True):
                for case in self._paths(sides[side], wanted, leading):
                    yield {condition: side} | case

    def _height(self, diagram: int) -> int:
        return self._heights[diagram - TERMINALS] if diagram >= TERMINALS else 0

    def _sides(self, diagram: int, condition: int) -> tuple[int, int]:
        if diagram >= TERMINALS:
            first, fails, holds = self._nodes[diagram - TERMINALS]
            if first == condition:
                return fails, holds
        return diagram, diagram
