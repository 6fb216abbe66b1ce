"""Power functions for the verification, from object files and assembler text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from ...spec.errors import InputError
from ...spec.power.choices import ALIASING
from ...spec.power.targets import target_named
from ..analysis.definedness import bytes_at
from ..contract.arguments import Array, Pointers, Scalar, SharedBuffer
from ..contract.contract import Instance
from ..contract.element_places import place_of
from ..contract.footprint import Footprint
from ..findings.candidate import Candidate
from ..findings.finding import Kind
from ..machine.array_memory import initial_bytes, memories, results_of
from ..machine.front_end import FinalArray, Outcome, Progress
from ..machine.kernel_outline import KernelOutline
from ..machine.memory import ByteLanes
from ..machine.observations import Loads
from ..machine.shared_buffers import Joined, put_together, taken_apart
from ..terms.interning import Ids
from ..terms.store import TermStore
from .calling_convention import Argument, pass_arguments, report_return, saved, stack_segment
from .candidates import candidates
from .image.assembler_text import read_text_program
from .image.object_file import is_object, read_object
from .image.program import Image, Section
from .image.source_lines import SourceLines
from .instruction_set import HANDLERS
from .library_functions import FUNCTIONS
from .machine import Machine
from .outline import outline
from .placement_dependence import with_dependence
from .state.storage import Segment, buffer_addresses, other_addresses
from .state.words import Data

POINTER_BYTES = 8
_MOST_CODE_AS_DATA = 1 << 20
"""Bytes of code that a function may read as data."""


_Which = np.ndarray[tuple[int], np.dtype[np.bool_]]

_Contents = Callable[[int], Segment]
"""Memory with what it holds, at an address that is given."""

_SHARED = f"an accumulator: {dict(ALIASING.options)['shared']}"


@dataclass(frozen=True)
class PowerKernel:
    """A function of a Power program; see `mmaproof.refinement.machine.front_end.Kernel`.

    Attributes
    ----------
    image : Image
        The program.
    entry : str
        The function's name, or its address.
    address : int
        Where it begins.
    target : str
        The processor.
    """

    image: Image
    entry: str
    address: int
    target: str

    @property
    def path(self) -> str:
        """The file."""
        return self.image.path

    def source(self, line: int) -> str:
        """Return where the compiler says that an instruction comes from."""
        return self._sources.source(line - 1) if self.image.lines is None else ""

    def place(self, line: int) -> str:
        """Return the address and function of an instruction of object code."""
        return self.image.spelled(line - 1) if self.image.lines is None else ""

    @cached_property
    def _sources(self) -> SourceLines:
        return SourceLines(Path(self.image.path))

    def control_part(self) -> PowerKernel:
        """Return itself; see `Kernel.control_part`."""
        return self

    def run(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None = None,
        blocks: np.ndarray[tuple[int], np.dtype[np.intp]] | None = None,
        before: Mapping[str, ByteLanes] | None = None,
        *,
        traced: bool = False,
    ) -> Outcome:
        """Call the function on terms."""
        contents = _contents(instance, store, inputs, before or {})
        sizes = list(_buffers(instance))

        def placed(addresses: dict[str, int], *, traced: bool) -> tuple[Outcome, dict[str, Segment]]:
            return self._placed(instance, store, inputs, progress, contents, addresses, traced=traced)

        outcome, arrays = placed(buffer_addresses(sizes), traced=traced)
        if not outcome.complete or outcome.findings or not sizes:
            return outcome
        for addresses in other_addresses(sizes):
            other, _ = placed(addresses, traced=False)
            outcome = with_dependence(store, outcome, other, arrays)
            if outcome.findings:
                break
        return outcome

    def _placed(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None,
        contents: Mapping[str, _Contents],
        addresses: dict[str, int],
        *,
        traced: bool,
    ) -> tuple[Outcome, dict[str, Segment]]:
        """Call the function with arrays at these addresses."""
        segments = list(self._program(store))
        arrays: dict[str, Segment] = {}
        for buffer in instance.buffers:
            addresses |= {each.name: addresses[buffer.name] + each.at for each in buffer.arrays}
            arrays[buffer.name] = contents[buffer.name](addresses[buffer.name])
        for name, array in instance.arrays.items():
            if array.within is None:
                arrays[name] = contents[name](addresses[name])
        segments += arrays.values()
        segments += [_table(store, pointer, addresses) for pointer in instance.pointers if pointer.in_memory]
        arguments = [_argument(each, instance, addresses, inputs) for each in _passed(instance, self.path)]
        segments.append(stack_segment(store, arguments))
        machine, complete = self._called(
            instance, store, segments, arguments, inputs, progress, traced=traced
        )
        if not complete and machine.ways.mixed:
            again = self._called(
                instance, store, segments, arguments, inputs, progress, traced=traced, keeps_apart=True
            )
            machine, complete = again if again[1] else (machine, complete)
        return self._outcome(instance, machine, arrays, machine.loads, complete=complete), arrays

    def _called(
        self,
        instance: Instance,
        store: TermStore,
        segments: list[Segment],
        arguments: Sequence[Argument],
        inputs: Mapping[str, Ids],
        progress: Progress | None,
        *,
        traced: bool,
        keeps_apart: bool = False,
    ) -> tuple[Machine, bool]:
        """Call the function, and tell whether it returned; see `BranchWays.keeps_apart`."""
        machine = Machine(
            store,
            self.image,
            segments,
            HANDLERS,
            FUNCTIONS,
            self.path,
            Loads() if traced else None,
            scalars=_scalars(instance, inputs),
            shared=instance.contract.aliasing == "shared",
        )
        machine.ways.keeps_apart = keeps_apart
        pass_arguments(machine, arguments, self.address, self.image.toc)
        kept = saved(machine)
        complete = machine.run(self.address, progress)
        if complete:
            report_return(machine, kept, self.address)
        return machine, complete

    def _outcome(
        self,
        instance: Instance,
        machine: Machine,
        arrays: Mapping[str, Segment],
        loads: Loads | None,
        *,
        complete: bool,
    ) -> Outcome:
        storage, store = machine.storage, machine.store
        final: dict[str, FinalArray] = {}
        for name, segment in arrays.items():
            at = storage.lanes_of(segment)
            lanes = ByteLanes(store, segment.runs.size)
            lanes.terms[:], lanes.lows[:] = storage.lanes.terms[at], storage.lanes.lows[at]
            final[name] = FinalArray(
                lanes, storage.lines[at].copy(), np.zeros(segment.runs.size, dtype=np.int64)
            )
        for buffer in instance.buffers:
            final |= taken_apart(buffer, final[buffer.name])
        for line, mnemonic, places in storage.unowned_reads:
            wrong = places[storage.lines[places] == 0]
            if len(wrong):
                message = f"{mnemonic} reads bytes that belong to no array: {storage.place(int(wrong[0]))}"
                terms = storage.lanes.terms[wrong]
                machine.observations.hold(Kind.UNINITIALISED, message, line, "", len(wrong), terms)
        _release_used(machine, arrays.values())
        if complete:
            machine.observations.tell_unused()
        return Outcome(
            final,
            machine.observations.findings,
            {} if loads is None else loads.by_line(store, "global"),
            {},
            1,
            complete,
            False,
            False,
            {name: storage.alignments.get(name, 1) for name in arrays},
            machine.depends,
            {
                "instructions": machine.instructions,
                "thread_instructions": machine.instructions,
                "threads": 1,
                "barriers": 0,
                "terms": len(store),
                "seconds": machine.seconds,
            },
            lambda _: "",
            notes=machine.observations.notes,
            assumptions=(*((_SHARED,) if machine.registers.shared else ()), *machine.assumptions),
        )

    def _program(self, store: TermStore) -> Iterator[Segment]:
        """Yield the memory of the program itself."""
        numbers = store.constants(np.arange(256), 8)
        for section in self.image.sections:
            if not section.executable or len(section.data) <= _MOST_CODE_AS_DATA:
                yield _section_segment(section, numbers)


def _contents(
    instance: Instance, store: TermStore, inputs: Mapping[str, Ids], held: Mapping[str, ByteLanes]
) -> dict[str, _Contents]:
    """Return the memory that arguments lead to, wherever it is placed."""
    memory, later = memories(instance), bool(instance.contract.launches)
    found: dict[str, _Contents] = {}
    for buffer in instance.buffers:
        joined = put_together(buffer, memory, store, inputs, held)
        results = None if later else joined.results
        found[buffer.name] = partial(_buffer_segment, buffer, joined, results)
    for name, array in instance.arrays.items():
        if array.within is None:
            own = memory[name]
            lanes = held[name] if name in held else initial_bytes(store, own, inputs)
            results = None if later else results_of(own)
            found[name] = partial(_array_segment, array, lanes, own.unowned, results)
    return found


def _release_used(machine: Machine, segments: Iterable[Segment]) -> None:
    """Report reads of what nobody has written where results depend on what they gave."""
    storage = machine.storage
    for segment in segments:
        own = storage.lanes_of(segment)
        stored = storage.lines[own] != 0
        places = own.start + np.flatnonzero(stored if segment.results is None else stored & segment.results)
        wanted = bytes_at(storage.lanes.lows[places])
        machine.observations.release(machine.store, storage.lanes.terms[places], wanted)


def _section_segment(section: Section, numbers: Ids) -> Segment:
    size = len(section.data)
    writable = section.writable and not section.known
    content = None
    if section.known:
        terms = numbers[np.frombuffer(bytes(section.data), dtype=np.uint8)]
        content = terms, np.zeros(size, dtype=np.uint8)
    reason = "" if section.known else "the contents of the program's own variables are not known"
    return Segment(
        section.name, section.address, Footprint.whole(size), size, writable, content, absent=reason
    )


def _scalars(instance: Instance, inputs: Mapping[str, Ids]) -> frozenset[int]:
    """Return the inputs that scalars are."""
    arguments = (
        argument for argument in instance.arguments if isinstance(argument, Scalar) and argument.value is None
    )
    return frozenset(int(inputs[argument.name].reshape(())) for argument in arguments)


def _buffers(instance: Instance) -> Iterator[tuple[str, int, int]]:
    """Yield name, bytes and alignment of the memory that pointers lead to."""
    for name, array in instance.arrays.items():
        if array.within is None:
            yield name, array.size, array.alignment
    for buffer in instance.buffers:
        yield buffer.name, buffer.size, buffer.alignment
    for pointer in instance.pointers:
        if pointer.in_memory:
            yield pointer.name, POINTER_BYTES * len(pointer.targets), pointer.alignment


def _array_segment(
    array: Array, lanes: ByteLanes, unowned: _Which | None, results: _Which | None, address: int
) -> Segment:
    return Segment(
        array.name,
        address,
        array.footprint,
        array.size,
        array.access.is_written,
        (lanes.terms, lanes.lows),
        lambda byte: str(place_of(array, 8 * byte)),
        unowned,
        results=results,
    )


def _buffer_segment(buffer: SharedBuffer, held: Joined, results: _Which | None, address: int) -> Segment:
    return Segment(
        buffer.name,
        address,
        Footprint.whole(buffer.size),
        buffer.size,
        buffer.is_written,
        (held.lanes.terms, held.lanes.lows),
        held.naming,
        held.unowned,
        results=results,
    )


def _table(store: TermStore, pointers: Pointers, addresses: Mapping[str, int]) -> Segment:
    """Return the memory in which addresses are."""
    size = POINTER_BYTES * len(pointers.targets)
    words = [addresses[name] + offset for name, offset in pointers.targets]
    lanes = ByteLanes(store, size)
    lanes.write(POINTER_BYTES * np.arange(len(words)), store.constants(np.array(words, dtype=np.uint64), 64))
    return Segment(
        pointers.name,
        addresses[pointers.name],
        Footprint.whole(size),
        size,
        False,
        (lanes.terms, lanes.lows),
        lambda byte: f"{pointers.name}[{byte // POINTER_BYTES}]",
    )


def _passed(instance: Instance, path: str) -> Iterator[Scalar | Array | Pointers]:
    described = {argument.name: argument for argument in (*instance.arguments, *instance.pointers)}
    if any(pointer.tensor is not None for pointer in instance.pointers):
        raise InputError("tensor maps are parameters of PTX kernels", path)
    for each in instance.passed:
        if not isinstance(each, str):
            raise InputError(
                f"{each.name} is a structure passed by value, which Power kernels can't take", path
            )
        yield described[each]


def _argument(
    given: Scalar | Array | Pointers,
    instance: Instance,
    addresses: Mapping[str, int],
    inputs: Mapping[str, Ids],
) -> Argument:
    match given:
        case Scalar():
            value = Data(int(inputs[given.name].reshape(()))) if given.value is None else given.value
            return Argument(given.name, given.format, value)
        case Pointers(in_memory=False):
            ((name, offset),) = given.targets
            return Argument(given.name, None, addresses[name] + offset)
    return Argument(given.name, None, addresses[given.name])


def read_kernel(path: Path, entry: str | None, target: str | None) -> PowerKernel:
    """Read a function of an object file, an executable, a shared library or assembler text."""
    chosen = target_named(target or "power10").name
    image = read_image(path)
    name, address = entry_of(image, entry)
    return PowerKernel(image, name, address, chosen)


def candidates_of(path: Path) -> list[Candidate]:
    """Return the functions of a program with matrix instructions."""
    return candidates(read_image(path))


def read_outline(path: Path, entry: str | None) -> KernelOutline:
    """Read what a function does with its arguments."""
    image = read_image(path)
    return outline(image, *entry_of(image, entry))


def read_image(path: Path) -> Image:
    """Read a program."""
    try:
        with path.open("rb") as stream:
            start = stream.read(4)
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}") from None
    if is_object(start):
        return read_object(path)
    return read_text_program(path)


_LISTED = 12
"""Functions that a message names."""


def entry_of(image: Image, entry: str | None) -> tuple[str, int]:
    """Return name and address of a function.

    Raises
    ------
    InputError
        If there is none of that name, or nothing says which.
    """
    functions = [function for function in image.functions if function.is_function]
    named = ", ".join(dict.fromkeys(function.name for function in functions[:_LISTED]))
    known = named + (", …" if len(functions) > _LISTED else "") or "none"
    if entry is None:
        visible = {function.address: function for function in functions if function.is_global} or {
            function.address: function for function in functions
        }
        if len(visible) != 1:
            raise InputError(
                f"{image.path} has {len(visible)} functions ({known}): name one as entry in [kernel], or its "
                "address"
            )
        ((address, symbol),) = visible.items()
        return symbol.name, address
    found = {each.address for each in image.symbols if each.name == entry and _is_code(image, each.address)}
    if len(found) > 1:
        raise InputError(f"{image.path} has {len(found)} functions {entry!r}: give the address of one")
    if found:
        return entry, found.pop()
    if entry.startswith("0x"):
        try:
            address = int(entry, 16)
        except ValueError:
            raise InputError(f"{entry!r} is no address") from None
        if address % 4 or not _is_code(image, address):
            raise InputError(f"{image.path} has no code at {entry}")
        return entry, address
    raise InputError(f"{image.path} has no function {entry!r}; there are: {known}")


def _is_code(image: Image, address: int) -> bool:
    section = image.section_at(address)
    return section is not None and section.executable
