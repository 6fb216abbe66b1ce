"""Static outline of a function: its uses of its arguments.

Along all ways through the code, a register descends from arguments: as an *address* where only sums and
copies lie between, else as a *number*. What is said is what may be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...spec.power.catalogue import RankKUpdate
from ...spec.power.instructions import associated_vsrs
from ..machine.kernel_outline import KernelOutline, MemoryAccess, ParameterUse
from .image.instruction_forms import Instruction, Operand
from .image.program import Image

_ADDING = frozenset(["add", "addi", "addis", "or", "subf", "paddi", "mr", "isel", "ldu"])
"""Instructions that pass an address on."""

_GENERAL = tuple(range(3, 11))
_FLOATS = tuple(range(1, 14))
_STACK_ARGUMENTS = 96
_LOST_BY_CALLS = frozenset([f"r{number}" for number in range(13)] + [f"f{number}" for number in range(14)])
"""Registers that a function which is called may change."""

_ENDS = ("bclr", "bcctr")
_MOST = 20000
"""Instructions that are looked at."""

_SIZES = {"b": 1, "h": 2, "w": 4, "d": 8}
_UPDATES = ("u", "ux")

Origin = frozenset[tuple[str, bool]]
"""Arguments that a register descends from, and whether as an address."""

_NOTHING: Origin = frozenset()


@dataclass
class _Found:
    """What is noted of the arguments."""

    used: set[str] = field(default_factory=set)
    accesses: dict[tuple[frozenset[str], MemoryAccess], set[str]] = field(default_factory=dict)
    products: dict[str, RankKUpdate] = field(default_factory=dict)
    compared: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    stack: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class _State:
    """Before an instruction: origins by register or place of the stack, and how far its pointer has moved."""

    origins: Mapping[str, Origin]
    moved: int | None

    def merged(self, other: _State) -> _State:
        names = self.origins.keys() | other.origins.keys()
        origins = {
            name: self.origins.get(name, _NOTHING) | other.origins.get(name, _NOTHING) for name in names
        }
        return _State(origins, self.moved if self.moved == other.moved else None)


def outline(image: Image, entry: str, address: int) -> KernelOutline:
    """Return what a function of a program does with its arguments."""
    found = _Found()
    registers = [f"r{number}" for number in _GENERAL] + [f"f{number}" for number in _FLOATS]
    first = _State({name: frozenset({(name, True)}) for name in registers}, 0)
    states, pending = {address: first}, [address]
    while pending and len(states) < _MOST:
        at = pending.pop()
        instruction = image.instruction(at)
        if isinstance(instruction, str):
            continue
        after = _after(states[at], instruction, found, image.line_of(at) if image.lines is not None else 0)
        for target in _following(instruction, at):
            merged = states[target].merged(after) if target in states else after
            if target not in states or merged != states[target]:
                states[target] = merged
                pending.append(target)
    families = tuple(dict.fromkeys(product.family for product in found.products.values()))
    return KernelOutline(
        "power", image.path, entry, "power10", None, None, 0, (), tuple(found.products),
        tuple(_parameters(found)), threads=False, launched=False,
        multiplied=tuple(fmt.name for family in families for fmt in (family.x, family.y)),
        summed=tuple(family.result.name for family in families),
    )  # fmt: skip


def _following(instruction: Instruction, at: int) -> Iterator[int]:
    """Yield where the function goes on; calls come back."""
    name, following = instruction.mnemonic, at + instruction.size
    if name == "b":
        yield at + instruction.values[0]
    elif name == "bc":
        yield from (following, at + instruction.values[2])
    elif name not in _ENDS or not instruction.values[0] & 16 or not instruction.values[0] & 4:
        yield following


def _name(operand: Operand, value: int) -> str | None:
    match operand.register:
        case "r":
            return f"r{value}"
        case "f":
            return f"f{value}"
        case "vs" if value < 32:
            return f"f{value}"
    return None


def _after(state: _State, instruction: Instruction, found: _Found, line: int) -> _State:
    """Note what an instruction does with arguments; returns the state behind it."""
    form, values, name = instruction.form, instruction.values, instruction.mnemonic
    if form.specified is not None and form.specified.update is not None:
        found.products.setdefault(name, form.specified.update)
    plain = name.rstrip(".").lstrip("p") if form.size == 64 else name.rstrip(".")
    stores = plain.startswith("st")
    loads = plain.startswith("l") and not plain.startswith(("lvsl", "lvsr"))
    compares = plain.startswith(("cmp", "fcmp", "xscmp"))
    named = [_name(operand, value) for operand, value in zip(form.operands, values, strict=True)]
    targets = [] if stores or compares or name in ("mtspr", "mtcrf", "mtocrf") else named[:1]
    read = [each for each in named[len(targets) :] if each is not None]
    if plain in ("xor", "xxlxor", "vxor") and len(set(read)) == 1:  # zero, whatever the register holds
        read = []
    for each in read:
        found.used |= {argument for argument, _ in state.origins.get(each, _NOTHING) if argument == each}
    if compares:
        for argument in {argument for each in read for argument, _ in state.origins.get(each, _NOTHING)}:
            found.compared[argument].append(line)
    address = [each for each in named[1:] if each is not None] if stores or loads else []
    place = _place_in_frame(state, instruction, address)
    if address and place is None:
        _note_access(state, instruction, address, found, line, stores=stores)
    if loads:
        brought = _loaded(state, place, found)
    else:
        brought = _NOTHING.union(*(state.origins.get(each, _NOTHING) for each in read))
    if not loads and plain not in _ADDING:
        brought = frozenset((argument, False) for argument, _ in brought)
    calls = plain in ("bl", "bcctrl", "bclrl")
    origins = {each: of for each, of in state.origins.items() if not calls or each not in _LOST_BY_CALLS}
    origins |= dict.fromkeys((target for target in targets if target is not None), brought)
    if form.operands and form.operands[0].name == "XTp" and not stores:
        origins[f"f{values[0] + 1}"] = _NOTHING
    if stores and place is not None and named[0] is not None:
        origins[_frame(place)] = state.origins.get(named[0], _NOTHING)
    if name == "xxmfacc":
        origins |= {f"f{number}": _NOTHING for number in associated_vsrs(values[0])}
    return _State(origins, _stack_moved(state.moved, instruction, plain, targets))


def _stack_moved(
    moved: int | None, instruction: Instruction, plain: str, targets: list[str | None]
) -> int | None:
    """Return how far the stack pointer has moved behind an instruction, if that is known."""
    others = zip(instruction.form.operands[1:], instruction.values[1:], strict=True)
    updates = any(operand.name == "RA" and value == 1 for operand, value in others)
    if plain == "stdu" and updates and moved is not None:
        return moved + instruction.values[1]
    if plain == "addi" and "r1" in targets and moved is not None and instruction.values[1] == 1:
        return moved + instruction.values[2]
    changed = "r1" in targets or (updates and plain.startswith(("l", "st")))
    return None if changed else moved


def _place_in_frame(state: _State, instruction: Instruction, registers: list[str]) -> int | None:
    """Return where on the stack a load or store is, from the caller's stack pointer on, if that is known."""
    if registers[:1] != ["r1"] or state.moved is None or len(registers) != 1:
        return None
    return state.moved + instruction.values[1]


def _loaded(state: _State, place: int | None, found: _Found) -> Origin:
    """Return from what a value descends that is loaded from a place of the stack, or from elsewhere."""
    if place is None:
        return _NOTHING
    if place < _STACK_ARGUMENTS:
        return state.origins.get(_frame(place), _NOTHING)
    slot = (place - _STACK_ARGUMENTS) // 8
    found.stack.add(slot)
    return state.origins.get(_frame(place), frozenset({(f"stack{slot}", True)}))


def _frame(place: int) -> str:
    return f"frame{place}"


def _note_access(
    state: _State, instruction: Instruction, registers: list[str], found: _Found, line: int, *, stores: bool
) -> None:
    origins = [state.origins.get(register, _NOTHING) for register in registers]
    bases = {argument for origin in origins for argument, is_address in origin if is_address}
    numbers = {argument for origin in origins for argument, is_address in origin if not is_address}
    general = frozenset(basis for basis in bases if basis.startswith(("r", "stack")))
    access = MemoryAccess(
        line, instruction.mnemonic, *_moved(instruction.mnemonic), reads=not stores, writes=stores
    )
    if general:
        found.accesses.setdefault((general, access), set()).update(numbers)


def _attributed(found: _Found) -> tuple[Mapping[str, list[MemoryAccess]], Mapping[str, set[str]]]:
    """Return the accesses through each argument, and what else their addresses descend from.

    Of several arguments that are added up, those are pointers through which something else is accessed alone.
    """
    pointers = {argument for arguments, _ in found.accesses if len(arguments) == 1 for argument in arguments}
    accesses: dict[str, list[MemoryAccess]] = defaultdict(list)
    indices: dict[str, set[str]] = defaultdict(set)
    for (arguments, access), numbers in found.accesses.items():
        chosen = arguments & pointers or arguments
        for argument in chosen:
            if access not in accesses[argument]:
                accesses[argument].append(access)
            indices[argument] |= numbers | (arguments - chosen)
    return accesses, indices


def _moved(mnemonic: str) -> tuple[int, str | None]:
    """Return the bytes that a load or store moves, and the type where its name tells it."""
    stem = mnemonic.lstrip("p").removeprefix("st").removeprefix("l").rstrip("xu")
    if stem.startswith(("fs", "xssp")):
        return 4, "f32"
    if stem.startswith(("fd", "xsd")):
        return 8, "f64"
    if stem.startswith("xv"):
        return 32 if stem.endswith("p") else 0 if stem.endswith("l") else 16, None
    return _SIZES.get(stem[:1], 8), None


def _parameters(found: _Found) -> Iterator[ParameterUse]:
    """Yield the parameters in order: a float takes a place of its own among the integers."""
    general = [number for number in _GENERAL if _is_used(found, f"r{number}")]
    floats = [number for number in _FLOATS if _is_used(found, f"f{number}")]
    accesses, indices = _attributed(found)

    def parameter(name: str) -> ParameterUse:
        through = tuple(accesses.get(name, ()))
        compared = tuple(line for line in dict.fromkeys(found.compared.get(name, ())) if line)
        kind = "f64" if name.startswith("f") else None
        beside = tuple(sorted(indices.get(name, ())))
        used = _is_used(found, name)
        return ParameterUse(
            name, 8, kind, None, (), False, bool(through), None, through, None, beside, compared, used
        )

    waiting = list(range(1, max(floats, default=0) + 1))
    for number in range(3, max(general, default=2) + 1):
        if number in general or not waiting:
            yield parameter(f"r{number}")
        else:
            yield parameter(f"f{waiting.pop(0)}")
    for number in waiting:
        yield parameter(f"f{number}")
    for slot in range(max(found.stack, default=-1) + 1):
        yield parameter(f"stack{slot}")


def _is_used(found: _Found, name: str) -> bool:
    return name in found.used or name.startswith("stack")
