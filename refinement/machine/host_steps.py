"""Steps of the host between launches: functions in numpy that read arrays and write others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ...spec.formats import F32, F64
from ..contract.arguments import Array
from ..contract.contract import Instance, LaunchStep
from ..expected.array_functions import term_space
from ..expected.array_programs import ArrayProgram
from ..expected.term_arithmetic import Value
from ..expected.term_arrays import TermArray
from ..terms.interning import Ids
from ..terms.store import TermStore
from .array_memory import elements_in, initial_bytes, memories
from .front_end import LAUNCHED, FinalArray, Outcome, Progress
from .memory import ByteLanes

FIRST_LINE = 10_000_000
"""What stands for the line of a step's stores: more lines than a kernel has, and one for each step."""


class HostStep:
    """A step of the host, as a kernel; see `mmaproof.refinement.machine.front_end.Kernel`.

    Its function takes arrays by the names of its parameters, and returns what it writes by name: an array of
    the whole shape, or a pair of linear indices and values.

    Parameters
    ----------
    step : LaunchStep
        The step.
    program : ArrayProgram
        Its function.
    path : str
        The file of the kernels beside it.
    number : int
        Its place among the launches.
    target : str
        The processor of the kernels.
    """

    def __init__(self, step: LaunchStep, program: ArrayProgram, path: str, number: int, target: str) -> None:
        self.path, self.entry, self.target = path, program.name, target
        self._where = step.source or f"{program.path}:{program.name}"
        self._program = program
        self._line = FIRST_LINE + number

    def source(self, line: int) -> str:
        """See `Kernel.source`."""
        return self._where if line == self._line else ""

    def place(self, line: int) -> str:
        """See `Kernel.place`."""
        return f"the host's {self.entry}" if line == self._line else ""

    def control_part(self) -> HostStep:
        """Return itself; see `Kernel.control_part`."""
        return self

    def run(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None = None,
        blocks: NDArray[np.intp] | None = None,
        before: Mapping[str, ByteLanes] | None = None,
        *,
        traced: bool = False,
    ) -> Outcome:
        """Run the function on terms; elements that nobody has written are undefined."""
        del progress, blocks, traced
        memory = memories(instance)
        formats = {argument.format for argument in instance.arguments}
        space = term_space(store, F64 if F64 in formats else F32)
        given: dict[str, Any] = dict(instance.sizes)
        held: dict[str, ByteLanes] = {}
        names = [each for each in instance.passed if isinstance(each, str)]
        for name in names:
            array = instance.arrays[name]
            lanes = (before or {}).get(name)
            held[name] = initial_bytes(store, memory[name], inputs) if lanes is None else lanes
            written, terms = elements_in(store, memory[name], held[name])
            unknown = np.flatnonzero(~written)
            if len(unknown):
                terms[unknown] = store.undefined(len(unknown), array.format.bits)
            given[name] = TermArray(space, Value(terms.reshape(array.shape), array.format))
        arrays = {}
        result = self._program.result(given)
        if not isinstance(result, dict):
            raise InputError(f"{self.entry} must return a dict of what it writes", self._where)
        for name, value in result.items():
            if name not in held or not instance.arrays[name].access.is_written:
                raise InputError(
                    f"{self.entry} writes {name}, which is no array that it may write", self._where
                )
            array = instance.arrays[name]
            whole = np.arange(array.elements).reshape(array.shape)
            places, values = value if isinstance(value, tuple) else (whole, value)
            numbers, made = np.asarray(places), space.array(values)
            if made.ndim and made.shape != numbers.shape:
                what = f"writes {list(made.shape)} numbers to {list(numbers.shape)} places of {name}"
                raise InputError(f"{self.entry} {what}", self._where)
            if numbers.size and not 0 <= numbers.min() <= numbers.max() < array.elements:
                raise InputError(f"{self.entry} writes beside the elements of {name}", self._where)
            arrays[name] = self._stored(store, array, held[name], numbers, made)
        nothing: Ids = np.zeros(0, dtype=np.int32)
        return Outcome(
            arrays,
            (),
            {},
            {},
            LAUNCHED,
            True,
            True,  # in which order PyTorch sums, and what it fuses, is said nowhere
            True,
            {},
            nothing,
            {"terms": len(store)},
            lambda _: f"the host ({self._where})",
        )

    def _stored(
        self, store: TermStore, array: Array, before: ByteLanes, places: NDArray[np.intp], values: TermArray
    ) -> FinalArray:
        """Return an array of which some elements, by linear index, have become others."""
        terms = np.broadcast_to(values.cast(array.format).value.terms, places.shape).reshape(-1)
        lanes = ByteLanes(store, len(before))
        lanes.terms[:], lanes.lows[:] = before.terms, before.lows
        at = array.footprint.lanes(array.bit_offsets.reshape(-1)[places.reshape(-1)] // 8)
        lanes.write(at, terms)
        lines = np.zeros(len(before), dtype=np.int32)
        size = array.format.bits // 8
        lines[(at[:, None] + np.arange(size)).reshape(-1)] = self._line
        return FinalArray(lanes, lines, np.zeros(len(before), dtype=np.int64))
