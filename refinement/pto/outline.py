"""Static outline of a PTO kernel: which views of its parameters are loaded and stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...spec.formats import FloatFormat
from ...spec.pto.catalogue import OperationKind
from ...spec.pto.targets import PROFILES
from ...spec.pto.text.module import Function, Module, Other, Parameter
from ...spec.pto.text.statements import Arithmetic, InstructionStatement, PartitionView, TensorView
from ...spec.pto.text.syntax import Statement
from ..machine.kernel_outline import KernelOutline, MemoryAccess, ParameterUse
from .launching import is_pointer, pointed_to
from .run.core_pairs import peer_of
from .run.tile_instructions import adds_to_memory
from .text.cores import called_by
from .text.errors import EndedError
from .text.operand_text import text_of, values_of
from .tiles.scalar_arithmetic import number_format

_POINTER_BYTES = 8
_DEEPEST = 16
"""Calls within calls that are looked into."""


def outline(module: Module, function: Function, functions: Mapping[str, Function]) -> KernelOutline:
    """Return what a kernel does with its parameters, as far as the text tells.

    Parameters
    ----------
    module : Module
        The file.
    function : Function
        The kernel.
    functions : mapping of str to Function
        All that it may call.
    """
    names = [str(parameter.name) for parameter in function.parameters]
    peer = peer_of(function, functions)
    accesses: dict[str, list[MemoryAccess]] = {name: [] for name in names}
    compared: dict[str, list[int]] = {name: [] for name in names}
    used: set[str] = set()
    products: dict[str, None] = {}
    for statement, of in (
        each
        for one in (function, peer)
        if one is not None
        for each in _statements(one, functions, _named(one, names), 0)
    ):
        used |= {of[name] for name in _names(statement) if name in of}
        match statement:
            case InstructionStatement(operation=operation):
                if operation.kind is not OperationKind.MOVE:
                    products[f"pto.{operation}"] = None
                if operation.view is not None:
                    operand = statement.operands().get(operation.view)
                    if operand is not None and operand.name in of:
                        accesses[of[operand.name]].append(_access(statement))
            case Arithmetic(name="arith.cmpi", operands=operands):
                for name in operands:
                    if name in of:
                        compared[of[name]].append(statement.line)
    return KernelOutline(
        "pto",
        str(module.path),
        function.name,
        module.target or "",
        None,
        None,
        0,
        (),
        tuple(products),
        tuple(
            _parameter(
                parameter,
                accesses[str(parameter.name)],
                compared[str(parameter.name)],
                str(parameter.name) in used,
            )
            for parameter in function.parameters
        ),
        threads=False,
        targets=tuple(PROFILES),
    )


def _named(function: Function, names: list[str]) -> Origins:
    """Return the parameters of a function by their names there."""
    return {str(each.name): name for each, name in zip(function.parameters, names, strict=True)}


Origins = dict[str, str]
"""The parameter that a view, or a number, comes from, by its name in a function."""


def _statements(
    function: Function, functions: Mapping[str, Function], origins: Origins, depth: int
) -> Iterator[tuple[Statement, Origins]]:
    """Yield the statements of a function, and of those it calls, with the origins of names there."""
    if function.body is None or depth == _DEEPEST:
        return
    for statement in function.body.walk():
        match statement:
            case TensorView(name=name, pointer=source) | PartitionView(name=name, source=source):
                if source in origins:
                    origins[name] = origins[source]
            case Arithmetic(results=(name,), name="arith.index_cast", operands=(source,)):
                if source in origins:
                    origins[name] = origins[source]
            case Other(name="pto.addptr", results=(name,)):
                source = next(iter(values_of(text_of(statement))), "")
                if source in origins:
                    origins[name] = origins[source]
            case Other() if (called := called_by(statement)) is not None and called[0] in functions:
                inner = functions[called[0]]
                passed = zip(inner.parameters, called[1], strict=False)
                own = {str(each.name): origins[name] for each, name in passed if name in origins}
                yield from _statements(inner, functions, own, depth + 1)
        yield statement, origins


def _names(statement: Statement) -> Iterator[str]:
    """Yield the names that a statement mentions besides those of its regions."""
    match statement:
        case InstructionStatement():
            yield from (each.name for each in (*statement.inputs, *statement.outputs))
        case TensorView():
            yield from (statement.pointer, *statement.shape, *statement.strides)
        case PartitionView():
            yield from (statement.source, *statement.offsets, *statement.sizes)
        case Arithmetic():
            yield from statement.operands
        case Other():
            yield from statement.values
        case _:
            yield from (value for value in vars(statement).values() if isinstance(value, str))


def _access(statement: InstructionStatement) -> MemoryAccess:
    stores = statement.operation.stores
    view = statement.operands()[str(statement.operation.view)].type
    element = getattr(view, "element", None)
    fmt = None if element is None or element.format is None else element.format.name
    size = 0 if element is None else element.storage_bytes
    adds = stores and adds_to_memory(statement)
    return MemoryAccess(statement.line, f"pto.{statement.operation}", size, fmt, not stores or adds, stores)


def _parameter(
    parameter: Parameter, accesses: list[MemoryAccess], compared: list[int], used: bool
) -> ParameterUse:
    pointer = is_pointer(parameter)
    type_, size, step = None, _POINTER_BYTES, None
    if pointer and (element := pointed_to(parameter)) is not None and element.format is not None:
        type_, step = element.format.name, element.storage_bytes
    elif not pointer:
        try:
            fmt = number_format(str(parameter.type))
            size = max(1, fmt.bits // 8)
            type_ = fmt.name if isinstance(fmt, FloatFormat) else "b1" if fmt.bits == 1 else None
        except EndedError:  # a type of its own: verify says so
            used = False
    return ParameterUse(
        str(parameter.name),
        size,
        type_,
        None,
        (),
        is_structure=False,
        is_pointer=pointer,
        alignment=None,
        accesses=tuple(accesses),
        step=step,
        indices=(),
        compared=tuple(compared),
        used=used,
    )
