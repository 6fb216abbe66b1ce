"""Programs in numpy that a contract names: references, and steps of the host between launches.

``reference = "reference.py:gemm"`` names code; it is executed when the contract is verified.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...spec.errors import InputError
from ...spec.text_files import read_text
from ..contract.contract import Instance
from ..formula.tree import Source
from .term_arrays import NotModelledError


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
        return self._outputs(instance, self.result(given))

    def result(self, given: Mapping[str, Any]) -> Any:
        """Return what it returns; raises as `called`."""
        arguments = self._arguments(given)
        try:
            return self.function(**arguments)
        except NotModelledError as error:
            raise InputError(f"{error}, which a reference can't use", self._line(error)) from None
        except Exception as error:  # whatever a program of somebody else raises
            raise InputError(f"{type(error).__name__}: {error}", self._line(error)) from error

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


def read_program(source: Source, folder: Path) -> ArrayProgram:
    """Read a function that is named as ``file.py:name``; the file's path is relative to the contract.

    Raises
    ------
    InputError
        If there is no such file or function, or the file can't be executed.
    """
    where = str(source.where)
    file, _, name = source.text.rpartition(":")
    if not file.endswith(".py") or not name.isidentifier():
        raise InputError(f'{source.what} must be "file.py:function", not {source.text!r}', where)
    path = folder / file
    namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    code = read_text(path)
    try:
        exec(compile(code, str(path), "exec"), namespace)
    except Exception as error:
        raise InputError(f"can't be executed: {type(error).__name__}: {error}", str(path)) from error
    function = namespace.get(name)
    if not callable(function):
        known = ", ".join(key for key, value in namespace.items() if inspect.isfunction(value)) or "none"
        raise InputError(f"has no function {name!r}; there are: {known}", str(path))
    return ArrayProgram(str(path), name, function, where)
