"""Which indices of formulas go over sizes that are divided into tiles."""

from __future__ import annotations

from collections.abc import Mapping

from ...spec.errors import UnsupportedError
from ..contract.contract import Contract
from ..contract.formula_checking import indexed_axes
from ..contract.parameters import ArrayParameter
from ..contract.size_polynomials import SizePolynomials
from ..formula.index_arithmetic import Expression
from ..formula.tree import Formula, Name, Reduction, walk


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
