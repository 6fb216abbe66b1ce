"""A symbolic launch run to its end at once, and what it stores compared with the formulas."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from ....spec.errors import UnsupportedError
from ....spec.formats import FloatFormat
from ...checker.evaluated import Checked
from ...contract.arguments import Array
from ...equality.equivalence import Comparison, compare
from ...findings.result import Equality
from ...normal_forms.forms import NormalForms
from ...terms.interning import Ids
from .launch_formulas import formula_terms
from .size_proofs import Timed
from .symbolic_launch import Expected, SymbolicLaunch


def of_all(launch: SymbolicLaunch, output: Array) -> Ids:
    """Return what a contract says of the elements of an output that the grid, or the block, stores."""
    if launch.tail is None:
        return formula_terms(launch, launch.instance, output.name)
    length = launch.numbers.last - launch.numbers.residue + launch.numbers.modulus
    instance = launch.standing_in(launch.sums.alone(length), length)
    from_0 = {launch.sums.index: launch.store.symbols.form({})}
    return formula_terms(launch, instance, output.name, from_0)


def check(
    launch: SymbolicLaunch,
    noting: Callable[..., Timed],
    expected: Callable[[SymbolicLaunch, Array], Ids] = of_all,
) -> tuple[Equality, Checked]:
    """Run a launch for all numbers of its class at once; return the equality that outputs need.

    Parameters
    ----------
    launch : SymbolicLaunch
        The launch.
    noting : callable
        Notes an obligation, by its name and the output that it is about.
    expected : callable
        What outputs are to be.

    Raises
    ------
    UnsupportedError
        If it is not shown to be right.
    """
    with noting("accesses"):
        batch = launch.begun(launch.all_numbers)
        try:
            launch.run_to_end(batch)
        except UnsupportedError as error:
            line, what = batch.execution.instruction.line, ""
            if launch.store.doubts:
                line, what = launch.store.doubts[-1].line, f"{launch.store.doubts[-1].what}; "
            raise UnsupportedError(f"{launch.path}:{line}: {what}{error}") from error
        launch.check_findings()
    equality, checked = Equality.BITS, Checked()
    for output in launch.instance.outputs:
        with noting("tile", output.name):
            actual = launch.stored(batch, output)
        with noting("value", output.name):
            found = _compared(launch, output, actual, partial(expected, launch, output))
            checked += found.checked
            if not found.identical.all():
                equality = Equality.VALUE
    if launch.tail is not None and any(
        isinstance(each.format, FloatFormat) for each in launch.instance.outputs
    ):
        equality = Equality.VALUE  # zeros that are added may change a sum's sign
    return equality, checked


def _compared(launch: SymbolicLaunch, output: Array, actual: Ids, expected: Expected) -> Comparison:
    """Compare what is stored with what is expected.

    Raises
    ------
    UnsupportedError
        If it is not shown to be the same.
    """
    for both in launch.ways(output, actual, expected):
        with suppress(UnsupportedError):  # what is stored for a row depends on others
            found = compare(NormalForms(launch.store), *both(), output.format)
            if found.equal.all():
                return found
    doubts = launch.store.doubts
    about = f"{launch.path}:{doubts[-1].line}: {doubts[-1].what}; " if doubts else ""
    raise UnsupportedError(
        f"{about}it is not shown that a block stores the values of the formula to {output.name}"
    )
