"""Reference functions in numpy as formulas of contracts: executed on symbols.

``reference = "reference.py:gemm"`` names code; it is executed when the contract is verified.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ...spec.formats import F32, F64, S64, FloatFormat, IntegerFormat
from ...spec.text_files import read_text
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..errors.error_bounds import ErrorBounds
from ..expected.array_functions import term_space
from ..expected.contract_terms import scalar_term
from ..expected.elements_by_data import element_terms
from ..expected.reference_result import stored
from ..expected.term_arithmetic import Value
from ..expected.term_arrays import NotModelledError, TermArray, TermSpace
from ..findings.finding import KernelFinding
from ..findings.result import Equality
from ..machine.front_end import Kernel, Outcome
from ..terms.inputs import Inputs, numbers_in
from ..terms.interning import Ids
from ..terms.store import TermStore


@dataclass(frozen=True)
class ArrayProgram:
    """A reference function of arrays.

    Attributes
    ----------
    path : str
        Its file.
    name : str
        Its name.
    function : callable
        Takes arrays, scalars and sizes by the names of its parameters; returns the output, or several in
        the order of the contract, or by name.
    where : str
        ``file:line`` of the contract that names it.
    """

    path: str
    name: str
    function: Callable[..., Any]
    where: str

    def called(self, instance: Instance, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return its results by output.

        Raises
        ------
        InputError
            If it asks for what the contract does not have, fails, does what arrays of terms don't, or returns
            something else than outputs.
        """
        arguments = self._arguments(given)
        try:
            result = self.function(**arguments)
        except NotModelledError as error:
            raise InputError(f"{error}: a reference can't have that", self._line(error)) from None
        except Exception as error:  # whatever a program of somebody else raises
            raise InputError(f"{type(error).__name__}: {error}", self._line(error)) from error
        return self._outputs(instance, result)

    def _arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        found = {}
        for name, parameter in inspect.signature(self.function).parameters.items():
            if name in given:
                found[name] = given[name]
            elif parameter.default is parameter.empty:
                known = ", ".join(given)
                raise InputError(
                    f"{self.path}:{self.name} takes {name}; the contract has {known}", self.where
                )
        return found

    def _outputs(self, instance: Instance, result: Any) -> dict[str, Any]:
        outputs = instance.outputs
        if not isinstance(result, dict | tuple | list):
            result = (result,)
        if isinstance(result, dict):
            found = dict(result)
        else:
            found = dict(zip((each.name for each in outputs), result, strict=False))
        names = {each.name for each in outputs}
        if found.keys() != names or (not isinstance(result, dict) and len(result) != len(outputs)):
            raise InputError(
                f"{self.path}:{self.name} must return {', '.join(names)}: one array for each", self.where
            )
        for output in outputs:
            shape = np.shape(found[output.name])
            if shape != output.shape:
                raise InputError(
                    f"{self.path}:{self.name} returns {output.name} of shape {list(shape)}, not "
                    f"{list(output.shape)}",
                    self.where,
                )
        return found

    def _line(self, error: BaseException) -> str:
        """Return ``file:line`` of the last line of the program that was being executed."""
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == self.path]
        return f"{self.path}:{frames[-1].lineno}" if frames else self.path


def read_program(text: str, where: str, folder: Path) -> ArrayProgram:
    """Read a function that is named as ``file.py:name``; the file's path is relative to the contract.

    Raises
    ------
    InputError
        If there is no such file or function, or the file can't be executed.
    """
    file, _, name = text.rpartition(":")
    if not file.endswith(".py") or not name.isidentifier():
        raise InputError(f'reference must be "file.py:function", not {text!r}', where)
    path = folder / file
    namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    source = read_text(path)
    try:
        exec(compile(source, str(path), "exec"), namespace)
    except Exception as error:
        raise InputError(f"can't be executed: {type(error).__name__}: {error}", str(path)) from error
    function = namespace.get(name)
    if not callable(function):
        known = ", ".join(key for key, value in namespace.items() if inspect.isfunction(value)) or "none"
        raise InputError(f"has no function {name!r}; there are: {known}", str(path))
    return ArrayProgram(str(path), name, function, where)


class ArrayReference:
    """Expected outputs by a numpy program; see `references.Reference`."""

    def __init__(self, instance: Instance, store: TermStore, program: ArrayProgram) -> None:
        self._instance, self._store, self._program = instance, store, program
        self.former: str | None = None
        self.unordered = False
        self.equality: Equality = instance.contract.equality
        self._terms: dict[str, Ids] = {}

    def covered(self, output: Array) -> NDArray[np.bool_]:
        """See `Reference.covered`."""
        return np.ones(output.elements, dtype=bool)

    def expected(self, output: Array) -> Ids:
        """See `Reference.expected`."""
        if not self._terms:
            found = self._program.called(self._instance, self._symbols())
            for each in self._instance.outputs:
                array = self._space.array(found[each.name])
                self._terms[each.name] = array.cast(each.format).value.terms.reshape(-1)
        return self._terms[output.name]

    @property
    def _space(self) -> TermSpace:
        formats = {each.format for each in self._instance.arguments}
        return term_space(self._store, F64 if F64 in formats else F32)

    def _symbols(self) -> dict[str, Any]:
        """Return what the program is given: terms; plain numbers where the contract gives integers."""
        found: dict[str, Any] = dict(self._instance.sizes)
        for array in self._instance.arrays.values():
            if not array.access.is_known_before:
                continue
            if array.contents is not None and not isinstance(array.format, FloatFormat):
                found[array.name] = numbers_in(array.contents.astype(np.uint64), array.format).reshape(
                    array.shape
                )
                continue
            terms = element_terms(array, np.arange(array.elements), self._store).reshape(array.shape)
            found[array.name] = TermArray(self._space, Value(terms, array.format))
        for scalar in self._instance.scalars.values():
            if scalar.integer is not None:
                found[scalar.name] = scalar.integer
            else:
                term = np.asarray(scalar_term(self._instance, scalar.name, self._store))
                found[scalar.name] = TermArray(self._space, Value(term.reshape(()), scalar.format))
        return found

    def values(self, inputs: Inputs) -> Mapping[str, NDArray[Any]]:
        """See `Reference.values`."""
        given: dict[str, Any] = dict(self._instance.sizes)
        for array in self._instance.arrays.values():
            if array.access.is_known_before:
                words = array.contents if array.contents is not None else inputs[array.name]
                given[array.name] = numbers_in(np.asarray(words, dtype=np.uint64), array.format).reshape(
                    array.shape
                )
        for scalar in self._instance.scalars.values():
            known = [scalar.value] if scalar.value is not None else inputs[scalar.name]
            given[scalar.name] = numbers_in(np.asarray(known, dtype=np.uint64), scalar.format).reshape(())[()]
        with np.errstate(all="ignore"):
            found = self._program.called(self._instance, given)
        return {each.name: _held(np.asarray(found[each.name]), each) for each in self._instance.outputs}

    def magnitudes(self, inputs: Inputs) -> Mapping[str, NDArray[np.float64]]:
        """See `Reference.magnitudes`."""
        bounds = ErrorBounds(self._store, inputs)
        return {each.name: bounds.sizes(self.expected(each)) for each in self._instance.outputs}

    def origin(self, output: Array, element: int) -> str:
        """See `Reference.origin`."""
        return ""

    def strays(self, kernel: Kernel, output: Array, outcome: Outcome) -> Iterator[KernelFinding]:
        """See `Reference.strays`."""
        return iter(())


def _held(values: NDArray[Any], output: Array) -> NDArray[Any]:
    """Return results as an output holds them."""
    fmt = output.format
    if not isinstance(fmt, IntegerFormat):
        return stored(values.astype(np.float64).reshape(-1), fmt)
    flat = [(int(each) - fmt.minimum) % (1 << fmt.bits) + fmt.minimum for each in values.reshape(-1)]
    return np.array(flat, dtype=np.int64 if fmt.bits < S64.bits else object)
