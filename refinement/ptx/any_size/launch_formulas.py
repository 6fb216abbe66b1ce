"""Formulas of a contract at a symbolic launch: what its output is, with all that sizes and sums may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ...contract.contract import Instance
from ...contract.parameters import ScalarParameter
from ...formula.index_arithmetic import Expression
from ...formula.tree import Formula, Name, walk
from ...sizes.block_formulas import BlockFormula, BlockSpace
from ...sizes.integer_forms import Rows
from ...sizes.partial_sums import depends_on_sizes
from ...terms.interning import Ids
from .symbolic_launch import SymbolicLaunch


def as_they_are(rows: Rows) -> Rows:
    """Return polynomials as they are."""
    return rows


def formula_terms(
    launch: SymbolicLaunch,
    instance: Instance,
    output: str,
    begins: Mapping[str, Rows] = MappingProxyType({}),
    held: Mapping[str, Ids] = MappingProxyType({}),
    move: Callable[[Rows], Rows] = as_they_are,
) -> Ids:
    """Return what a contract says of the elements (n,) of an output that the grid, or the block, stores.

    Parameters
    ----------
    launch : SymbolicLaunch
        What runs.
    instance : Instance
        The contract, at sizes of one tile and as many terms of a sum as are added up.
    output : str
        The output.
    begins : mapping of str to Rows (monomials,)
        Where sums begin, by their indices.
    held : mapping of str to Ids
        Arrays of the tile that are no parameters.
    move : callable
        Puts what is known of the size's symbol into polynomials.
    """
    store = launch.store
    array, formula = instance.arrays[output], instance.contract.formula(output)
    arrays = {
        name: replace(each, extents=move(each.extents), strides=move(each.strides))
        for name, each in launch.arrays.items()
    }
    sizes = {name: move(row[None])[0] for name, row in _sizes_in(launch, formula).items()}
    all_of_it = move(store.symbols.form(launch.size_form)[None])[0]
    ends = {} if launch.tail is None else dict.fromkeys(begins, all_of_it)
    began = {**begins, **launch.begins_in(formula)}
    space = BlockSpace(instance, formula, store, began, sizes, arrays, ends)
    last = {axis: rest.size for axis, rest in launch.axes_left(array).items()}
    made = BlockFormula(space, store, arrays, last, launch.tails(), held)
    found = store.inputs(output, array.format, np.arange(array.elements))
    found[space.places] = space.over_output(made.stored(array.format))
    return found


def _sizes_in(launch: SymbolicLaunch, formula: Formula) -> Mapping[str, Rows]:
    """Return names of sizes in a formula, and of scalars that are passed such."""
    found = {}
    for node in walk(formula.body):
        if isinstance(node, Name) and depends_on_sizes(launch.contract, formula, node, launch.polynomials):
            passed = [each for each in launch.contract.parameters if each.name == node.name]
            values = [each.value for each in passed if isinstance(each, ScalarParameter)]
            value = next((each for each in values if isinstance(each, Expression)), None)
            found[node.name] = launch.row_of(value or Expression(formula.source, node))[0]
    return found
