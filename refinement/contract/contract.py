"""Contracts: launch, parameters and expected results of a kernel (`docs/contracts.md`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from ...spec.errors import InputError
from ...spec.power.choices import ALIASING
from ..conditions.scalar_cases import EVERY, Case
from ..findings.result import Equality
from ..formula.index_arithmetic import Expression
from ..formula.tree import Formula, Requirement, Source
from .arguments import (
    HELD_ELEMENTS,
    Array,
    Pointers,
    Scalar,
    SharedBuffer,
    argument_of,
    buffer_of,
    pointers_of,
)
from .parameters import BufferParameter, Parameter, Passed, PointerParameter, Structure

if TYPE_CHECKING:
    from ..terms.matrix_rounding import MatrixRounding
    from .accuracy_clauses import AccuracyClause
    from .tensor_maps import with_map
from .size_domains import QuantifiedSizes
from .tensor_maps import with_map


class Accumulate(StrEnum):
    """The order in which floating-point sums are accumulated."""

    UNSPECIFIED = "unspecified"
    SEQUENTIAL = "sequential"


class Order(StrEnum):
    """What is made of fences and waits that PTX asks for, and ptxas inserts or has no instruction for.

    With ``in-order`` a thread's copies to tensor memory are taken to follow its products, too.
    """

    WRITTEN = "as-written"
    ASSEMBLED = "as-assembled"
    IN_ORDER = "in-order"


class Synchronisation(StrEnum):
    """Who puts the pipes of a core in order: whoever assembles the kernel, or the kernel's own text."""

    INSERTED = "inserted"
    EXPLICIT = "explicit"


@dataclass(frozen=True)
class Launching:
    """One of several launches, at one set of sizes.

    Attributes
    ----------
    entry : str, optional
        The kernel's name in its module.
    grid, block, dynamic_shared, passed, cluster
        As in `Instance`.
    host : Source, optional
        As in `LaunchStep`.
    """

    entry: str | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int | None
    passed: tuple[Structure | str, ...]
    cluster: tuple[int, int, int] | None = None
    host: Source | None = None


@dataclass(frozen=True)
class Instance:
    """A contract at one set of sizes.

    Attributes
    ----------
    contract : Contract
        The contract.
    sizes : mapping of str to int
        Values of the sizes.
    grid, block : tuple of int
        Three extents each.
    dynamic_shared : int, optional
        Bytes; None where the contract does not say.
    arguments : tuple of Scalar and Array
        In the order of the kernel's parameters, those in structures one by one.
    pointers : tuple of Pointers
        Addresses in arrays and buffers.
    buffers : tuple of SharedBuffer
        Memory in which several arrays lie.
    passed : tuple of Structure or str
        What the kernel takes, in its order; see `Contract.passing`.
    case : Case
        What is supposed of scalars that may be anything; nothing by default.
    launches : tuple of Launching
        Where there are several, one after the other; grid, block and the like are then those of the first.
    cluster : tuple of int, optional
        Three extents in blocks; None where the contract does not say.
    """

    contract: Contract
    sizes: Mapping[str, int]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int | None
    arguments: tuple[Scalar | Array, ...]
    pointers: tuple[Pointers, ...]
    buffers: tuple[SharedBuffer, ...]
    passed: tuple[Structure | str, ...]
    case: Case = EVERY
    launches: tuple[Launching, ...] = ()
    cluster: tuple[int, int, int] | None = None

    def in_launch(self, launch: Launching) -> Instance:
        """Return one of several launches as the only one."""
        return replace(
            self,
            grid=launch.grid,
            block=launch.block,
            dynamic_shared=launch.dynamic_shared,
            passed=launch.passed,
            cluster=launch.cluster,
            launches=(),
        )

    def in_case(self, case: Case) -> Instance:
        """Return the same, of scalars of which something is supposed."""
        arguments = tuple(
            replace(argument, value=case.values[argument.name])
            if isinstance(argument, Scalar) and argument.name in case.values
            else argument
            for argument in self.arguments
        )
        return replace(self, arguments=arguments, case=case)

    @cached_property
    def arrays(self) -> Mapping[str, Array]:
        """The arrays by name."""
        return {argument.name: argument for argument in self.arguments if isinstance(argument, Array)}

    @cached_property
    def scalars(self) -> Mapping[str, Scalar]:
        """The scalars by name."""
        return {argument.name: argument for argument in self.arguments if isinstance(argument, Scalar)}

    @property
    def outputs(self) -> tuple[Array, ...]:
        """The arrays that are compared: those that formulas describe, or all that may be written."""
        if self.contract.formulas:
            return tuple(self.arrays[formula.output] for formula in self.contract.formulas)
        return tuple(array for array in self.arrays.values() if array.access.is_output)

    def __str__(self) -> str:
        sizes = (f"{name} = {value}" for name, value in self.sizes.items())
        return ", ".join((*sizes, *self.case.statements))


@dataclass(frozen=True)
class LaunchExtents:
    """Grid, block and cluster extents of a launch.

    Attributes
    ----------
    grid, block : tuple of Expression
        Up to three extents.
    dynamic_shared : Expression, optional
        Bytes; None where it does not say.
    cluster : tuple of Expression
        Up to three extents in blocks; none where it does not say.
    """

    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    dynamic_shared: Expression | None
    cluster: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class LaunchStep:
    """One of several launches.

    Attributes
    ----------
    entry : str, optional
        The kernel's name in its module.
    extents : LaunchExtents
        With what it is launched.
    passing : tuple of Structure or str
        What it takes, in its order.
    host : Source, optional
        The function, as ``file.py:name``, that the host runs in place of a kernel.
    source : str, optional
        Where the host does so, for messages: ``file:line``.
    """

    entry: str | None
    extents: LaunchExtents
    passing: tuple[Structure | str, ...]
    host: Source | None = None
    source: str | None = None


@dataclass(frozen=True)
class FormerKernel:
    """The reference kernel of a comparison of two kernels.

    Attributes
    ----------
    entry : str, optional
        Its name in its module.
    launch : LaunchExtents
        Its own.
    equality : Equality
        The weakest that is enough.
    launches : tuple of LaunchStep
        Where it is several, one after the other.
    """

    entry: str | None
    launch: LaunchExtents
    equality: Equality = Equality.VALUE
    launches: tuple[LaunchStep, ...] = ()


@dataclass(frozen=True)
class Contract:
    """The launch, the parameters and the expected results of a kernel.

    Attributes
    ----------
    path : str
        The file.
    isa : str
        ``ptx``, ``power`` or ``pto``.
    entry, target : str, optional
        The kernel's name in its module, and the processor it is for.
    launch : LaunchExtents
        Its launch.
    former : FormerKernel
        The kernel that it is compared with, where it is compared with one.
    sizes : tuple of mapping
        The sets of sizes at which it is to hold.
    parameters : tuple of Parameter
        In the kernel's order, those in structures one by one.
    pointers : tuple of PointerParameter
        Parameters that are addresses in arrays, or that point to such.
    buffers : tuple of BufferParameter
        Memory in which several arrays lie.
    passing : tuple of Structure or str
        What the kernel takes, in its order: structures, and names of parameters that stand alone.
    formulas : tuple of Formula
        One for each output; none where only accesses to memory are to be looked at.
    accumulate : Accumulate
        The order of floating-point sums.
    equality : Equality
        The weakest that is enough.
    reference : Stated, optional
        The function, as ``file.py:name``, that says what all outputs are, instead of formulas.
    launches : tuple of LaunchStep
        Where there are several, one after the other; `entry`, `launch` and `passing` are the first's.
    matrix_rounding : MatrixRounding, optional
        By which choice the roundings of matrix instructions are counted; the command line says it.
    accuracy : AccuracyClause, optional
        How far floats may be from what the formulas say.
    quantified : QuantifiedSizes, optional
        Where sizes may be any number of a domain; `sizes` then stand in for all.
    warpgroup_order, fence_order, object_order : Order
        Of a PTX kernel: whether what ptxas mends of the order of ``wgmma`` is a fault all the same, and that
        a ``tcgen05.fence``, or one behind ``mbarrier.init``, is missing.
    synchronisation : Synchronisation, optional
        Of a PTO kernel; None where its text is to say.
    aliasing : str
        Of a Power kernel: the reading of `mmaproof.spec.power.choices.ALIASING`.
    requirements : tuple of Requirement
        What the kernel may rely on of its inputs; nothing is said of others.
    certified : bool
        Whether a certificate is made; the command line says it.
    """

    path: str
    isa: str
    entry: str | None
    target: str | None
    launch: LaunchExtents
    former: FormerKernel
    sizes: tuple[Mapping[str, int], ...]
    parameters: tuple[Parameter, ...]
    pointers: tuple[PointerParameter, ...]
    buffers: tuple[BufferParameter, ...]
    passing: tuple[Structure | str, ...]
    formulas: tuple[Formula, ...]
    accumulate: Accumulate = Accumulate.UNSPECIFIED
    equality: Equality = Equality.VALUE
    reference: Source | None = None
    launches: tuple[LaunchStep, ...] = ()
    matrix_rounding: MatrixRounding | None = None
    quantified: QuantifiedSizes | None = None
    accuracy: AccuracyClause | None = None
    warpgroup_order: Order = Order.WRITTEN
    fence_order: Order = Order.ASSEMBLED
    object_order: Order = Order.WRITTEN
    synchronisation: Synchronisation | None = None
    aliasing: str = ALIASING.default
    requirements: tuple[Requirement, ...] = ()
    certified: bool = False

    @property
    def mended(self) -> frozenset[str]:
        """The opcodes of PTX whose lack of fences and waits ptxas is taken to mend."""
        orders = {
            "wgmma": self.warpgroup_order, "tcgen05": self.fence_order, "mbarrier": self.object_order
        }  # fmt: skip
        in_order = ("tcgen05.cp",) if self.fence_order is Order.IN_ORDER else ()
        return frozenset(in_order).union(
            opcode for opcode, order in orders.items() if order is not Order.WRITTEN
        )

    @property
    def says_values(self) -> bool:
        """Whether it says what is computed, and not only what is in memory."""
        return bool(self.formulas) or self.reference is not None

    def passed(self, *, former: bool = False) -> tuple[Structure | str, ...]:
        """Return what the kernel takes, or the former one, in its order."""
        other = Passed.NEW if former else Passed.OLD
        return passed_to(other, self.passing, (*self.parameters, *self.pointers))

    @property
    def of_former(self) -> Contract:
        """The contract with the launches of the former kernel in place of the other's."""
        return replace(self, entry=self.former.entry or self.entry, launches=self.former.launches)

    def formula(self, output: str) -> Formula:
        """Return the formula of an output."""
        return next(formula for formula in self.formulas if formula.output == output)

    def instances(self) -> Iterator[Instance]:
        """Yield the contract at every set of its sizes; raises as `instance`."""
        for sizes in self.sizes:
            yield self.instance(sizes)

    def instance(self, sizes: Mapping[str, int], *, former: bool = False) -> Instance:
        """Return the contract at one set of sizes, for the kernel or for the former one.

        Raises
        ------
        InputError
            If an extent, a stride or a value is not possible at these sizes.
        """
        launch = self.former.launch if former else self.launch
        shared = None if launch.dynamic_shared is None else launch.dynamic_shared.value(sizes, 0)
        # Of all sizes of a domain one may have no grid, which is a finding about the kernel that is verified.
        blocks = None if self.quantified is not None and not former else 1
        grid, block = _three(launch.grid, sizes, blocks), _three(launch.block, sizes)
        other = Passed.NEW if former else Passed.OLD
        arguments = tuple(
            argument_of(parameter, sizes) for parameter in self.parameters if parameter.passed is not other
        )
        elements = sum(argument.elements for argument in arguments if isinstance(argument, Array))
        if elements > HELD_ELEMENTS:
            raise InputError(f"the arrays have {elements} elements; at most {HELD_ELEMENTS}", self.path)
        named = {argument.name: argument for argument in arguments if isinstance(argument, Array)}
        pointers = tuple(
            with_map(pointer, pointers_of(pointer, sizes), named, sizes)
            for pointer in self.pointers
            if pointer.passed is not other
        )
        wheres = {parameter.name: parameter.where for parameter in self.parameters}
        arrays = [(argument, wheres[argument.name]) for argument in arguments if isinstance(argument, Array)]
        buffers = tuple(buffer_of(buffer, sizes, arrays) for buffer in self.buffers)
        steps = self.former.launches if former else self.launches
        launches = tuple(_launching(step, sizes, blocks) for step in steps)
        return Instance(
            self,
            sizes,
            grid,
            block,
            shared,
            arguments,
            pointers,
            buffers,
            self.passed(former=former),
            launches=launches,
            cluster=_cluster(launch, sizes),
        )


def passed_to(
    other: Passed, passing: Iterable[Structure | str], described: Iterable[Parameter | PointerParameter]
) -> tuple[Structure | str, ...]:
    """Return what is passed to one of two kernels, of all that is: not what only the other one takes."""
    gone = {each.name for each in described if each.passed is other}
    return tuple(
        each for each in passing if (each not in gone if isinstance(each, str) else each.passed is not other)
    )


def _three(
    extents: tuple[Expression, ...], sizes: Mapping[str, int], least: int | None = 1
) -> tuple[int, int, int]:
    found = [extent.value(sizes, least) for extent in extents]
    x, y, z = [*found, 1, 1, 1][:3]
    return x, y, z


def _launching(step: LaunchStep, sizes: Mapping[str, int], blocks: int | None) -> Launching:
    extents = step.extents
    shared = None if extents.dynamic_shared is None else extents.dynamic_shared.value(sizes, 0)
    grid, block = _three(extents.grid, sizes, blocks), _three(extents.block, sizes)
    return Launching(step.entry, grid, block, shared, step.passing, _cluster(extents, sizes), step.host)


def _cluster(launch: LaunchExtents, sizes: Mapping[str, int]) -> tuple[int, int, int] | None:
    return _three(launch.cluster, sizes) if launch.cluster else None
