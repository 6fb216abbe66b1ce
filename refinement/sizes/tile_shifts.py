"""Shifts of the elements that a formula reads, from one output tile to the next.

What a formula says of one tile, it says of every other one, of elements of arrays that are moved: where
indices are used for nothing else than to find elements, and all grow evenly.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...spec.errors import UnsupportedError
from ..contract.contract import Contract
from ..contract.formula_checking import indexed_axes
from ..contract.parameters import ArrayParameter
from ..contract.size_polynomials import SizePolynomials
from ..formula.index_arithmetic import Expression
from ..formula.tree import Element, Formula, Name, Reduction, walk
from .partial_sums import Stays, depends_on_sizes, index_shift, never_stays

Shifts = Mapping[str, tuple[Mapping[str, int], ...]]
"""For each array and axis, by how much an index grows from a tile of a size to the next."""


def tile_shifts(
    contract: Contract,
    tiles: Mapping[str, int],
    polynomials: SizePolynomials,
    movable: Collection[str],
    stays: Stays = never_stays,
) -> Shifts:
    """Return the shifts of all arrays of a contract's formulas.

    Parameters
    ----------
    contract : Contract
        The formulas.
    tiles : mapping of str to int
        What a tile has of each size.
    polynomials : SizePolynomials
        The contract's expressions.
    movable : collection of str
        Arrays whose elements may be others for other tiles.
    stays : callable
        Tells which given values decide the same in every tile; see `Stays`.

    Raises
    ------
    UnsupportedError
        If a formula says something else of some tiles, or it can't be told.
    """
    found: dict[str, tuple[Mapping[str, int], ...]] = {}
    for formula in contract.formulas:
        variables = output_variables(contract, formula, tiles, polynomials)
        _check_uses(contract, formula, variables, tiles, polynomials)
        elements = [node for node in walk(formula.body) if isinstance(node, Element)]
        for element in (formula.target, *elements):
            shifts = []
            for index in element.indices:
                moved = {
                    size: index_shift(index, name, tiles[size], stays) for size, name in variables.items()
                }
                if None in moved.values():
                    within = {node.array for node in walk(index) if isinstance(node, Element)}
                    why = f" (it depends on {', '.join(sorted(within))})" if within else ""
                    raise UnsupportedError(
                        f"an index of {element.array} is not linear in the number of the tile{why}"
                    )
                shifts.append({size: shift for size, shift in moved.items() if shift})
            if any(shifts) and element.array not in movable:
                raise UnsupportedError(
                    f"{element.array} must have an extent that grows with the tiles of its indices"
                )
            if found.setdefault(element.array, tuple(shifts)) != tuple(shifts):
                raise UnsupportedError(f"the formula indexes {element.array} by tiles in several ways")
    return found


def direct_axes(
    contract: Contract, tiles: Mapping[str, int], polynomials: SizePolynomials
) -> Mapping[tuple[str, int], str]:
    """Return axes of arrays, by name and number, that formulas only index by an output's index over a size.

    Parameters
    ----------
    contract, tiles, polynomials
        As of `tile_shifts`.
    """
    found: dict[tuple[str, int], set[str]] = {}
    for formula in contract.formulas:
        sizes = {name: size for size, name in output_variables(contract, formula, tiles, polynomials).items()}
        for element in walk(formula.body):
            if isinstance(element, Element):
                for axis, index in enumerate(element.indices):
                    size = sizes.get(index.name, "") if isinstance(index, Name) else ""
                    found.setdefault((element.array, axis), set()).add(size)
    return {place: sizes.pop() for place, sizes in found.items() if len(sizes) == 1 and "" not in sizes}


def output_variables(
    contract: Contract, formula: Formula, tiles: Mapping[str, int], polynomials: SizePolynomials
) -> Mapping[str, str]:
    """Return the index variable of a formula's output that goes over each size that has tiles."""
    output = next(parameter for parameter in contract.parameters if parameter.name == formula.output)
    assert isinstance(output, ArrayParameter)
    found = {}
    for index, extent in zip(formula.target.indices, output.shape, strict=True):
        for size in tiles:
            if dict(polynomials.of(extent)) == {(size,): 1}:
                if not isinstance(index, Name) or size in found:
                    raise UnsupportedError(f"{formula.output} must have exactly one index over {size}")
                found[size] = index.name
    if found.keys() != tiles.keys() or len(set(found.values())) != len(found):
        raise UnsupportedError(f"{formula.output} must have an axis for each size that the grid grows with")
    return found


def _check_uses(
    contract: Contract,
    formula: Formula,
    variables: Mapping[str, str],
    tiles: Mapping[str, int],
    polynomials: SizePolynomials,
) -> None:
    """Check that a formula depends on tiles only by the elements that it takes."""
    if formula.condition is not None:
        raise UnsupportedError("the formula has an `if` condition")
    nodes = list(walk(formula.body))
    within = {
        id(each)
        for element in nodes
        if isinstance(element, Element)
        for index in element.indices
        for each in walk(index)
    }
    extents = {id(bound.extent) for node in nodes if isinstance(node, Reduction) for bound in node.indices}
    for node in nodes:
        if isinstance(node, Name):
            if node.name in variables.values() and id(node) not in within:
                raise UnsupportedError(f"the formula uses {node.name} outside an index")
            if depends_on_sizes(contract, formula, node, polynomials) and id(node) not in extents:
                raise UnsupportedError(f"the formula uses the value of {node.name}, which depends on sizes")


def check_sums(contract: Contract, tiles: Mapping[str, int], polynomials: SizePolynomials) -> None:
    """Check that no sum of a contract's formulas goes over a size that has tiles.

    Raises
    ------
    UnsupportedError
        If one does, its index is the output's too, or the contract has no formulas.
    """
    if not contract.formulas:
        raise UnsupportedError("a proof for every tile needs a contract with formulas")
    arrays = {
        parameter.name: parameter
        for parameter in contract.parameters
        if isinstance(parameter, ArrayParameter)
    }
    for formula in contract.formulas:
        variables = output_variables(contract, formula, tiles, polynomials)
        for node in (each for each in walk(formula.body) if isinstance(each, Reduction)):
            for bound in node.indices:
                if bound.name in variables.values():
                    raise UnsupportedError(f"{bound.name} is an index of the output and of a sum")
                goes = [arrays[element.array].shape[axis] for element, axis in indexed_axes(node, bound.name)]
                if bound.extent is not None:
                    goes = [Expression(formula.source, bound.extent)]
                if any(_sizes(polynomials, extent) & tiles.keys() for extent in goes):
                    raise UnsupportedError("a sum runs over a size that the grid grows with")


def _sizes(polynomials: SizePolynomials, extent: Expression) -> set[str]:
    return {name for names in polynomials.of(extent) for name in names}
