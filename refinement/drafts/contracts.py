"""A draft contract in TOML from a kernel's code, with `fill in` for whatever code can't tell."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from ...spec.errors import InputError
from ...spec.formats import FORMATS, FloatFormat, Format, IntegerFormat
from ...spec.json_text import read_json
from ...spec.text_files import read_text
from ..findings.demangling import argument_types, cut, demangled
from ..formula.parser import KEYWORDS
from ..machine.kernel_outline import KernelOutline, MemoryAccess, ParameterUse
from .comments import FILL_IN, described, listed
from .declared_parameters import Declared, of_triton
from .tensor_maps import Described, array_lines, array_name, described_maps, map_lines

_WORD = 4
"""Bytes of an element of which nothing is known."""

_VECTOR = 16
"""Bytes of the accesses whose width says nothing of the elements."""

_WARPGROUP = 128
"""Threads that run ``wgmma`` together."""

POINTER = 8
"""Bytes of an address."""

_BY_SIZE = {1: "u8", 2: "f16", 4: "f32", 8: "f64"}
"""Element types where nothing is known but a width."""

_MEMORY_TYPES = {"tf32": "f32", "f16x2": "f16", "bf16x2": "bf16"}
"""Types of elements whose registers are used as another type."""

_C_TYPES = {
    "bool": "u8", "char": "s8", "signed char": "s8", "unsigned char": "u8", "short": "s16",
    "unsigned short": "u16", "int": "s32", "unsigned int": "u32", "long": "s64", "unsigned long": "u64",
    "long long": "s64", "unsigned long long": "u64", "float": "f32", "double": "f64", "__half": "f16",
    "__nv_bfloat16": "bf16", "__nv_fp8_e4m3": "e4m3", "__nv_fp8_e5m2": "e5m2",
}  # fmt: skip
"""Types of C++, as demangled names have them."""

_TYPE = re.compile(r"\w+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_SIZE_TYPES = ("i32", "i64", "u32", "u64")
_NOT_A_LETTER = re.compile(r"\W+", re.ASCII)


@dataclass(frozen=True)
class TritonMetadata:
    """Metadata of a kernel in Triton's cache, from the JSON file beside the PTX.

    Attributes
    ----------
    name : str
        The kernel.
    threads : int
        Of a block.
    shared : int
        Bytes of dynamic shared memory.
    scratch : tuple of int
        Bytes for each block of the scratch memory that the last parameters point to.
    maps : tuple of Described
        What it says of tensor maps, in the order of the parameters.
    signature : mapping of str to str
        The types of the parameters by name, as `mmaproof.triton.compiled` was given them; Triton writes none.
    grid : tuple of str
        The extents that the Python source launches it with, as `mmaproof.triton.compiled` read them.
    """

    name: str
    threads: int
    shared: int
    scratch: tuple[int, ...]
    maps: tuple[Described, ...] = ()
    signature: Mapping[str, str] = field(default_factory=dict)
    grid: tuple[str, ...] = ()


def read_triton_metadata(path: Path) -> TritonMetadata:
    """Read the file that Triton writes beside the PTX of a kernel.

    Raises
    ------
    InputError
        If it can't be read, or says no launch.
    """
    document = read_json(read_text(path), str(path))
    if not isinstance(document, dict):
        raise InputError("is no metadata of Triton: an object is expected", str(path))

    def number(key: str, default: int | None = None) -> int:
        value = document.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError(f"is no metadata of Triton: {key} must be a number, not {value!r}", str(path))
        return value

    signature, grid = document.get("signature"), document.get("grid")
    scratch = [key for key in ("global_scratch_size", "profile_scratch_size") if key in document]
    return TritonMetadata(
        str(document.get("name", "")),
        number("num_warps") * number("warp_size", 32),
        number("shared"),
        tuple(number(key) for key in scratch),
        described_maps(document.get("tensordesc_meta")),
        {str(name): str(kind) for name, kind in signature.items()} if isinstance(signature, dict) else {},
        tuple(str(each) for each in grid) if isinstance(grid, list) else (),
    )


def draft(
    outline: KernelOutline,
    metadata: TritonMetadata | None = None,
    declared: Mapping[str, Declared] = MappingProxyType({}),
) -> str:
    """Return a contract as TOML, which can be read as it is; see ``docs/contracts.md``.

    Parameters
    ----------
    outline : KernelOutline
        What the kernel's code tells.
    metadata : TritonMetadata, optional
        What Triton tells.
    declared : mapping of str to Declared
        What the source tells of parameters, by what the code calls them.
    """
    if metadata is not None and metadata.signature:
        declared = of_triton(metadata.signature, outline)
    names = _names(outline, declared)
    grid, sizes = _grid(metadata, names)
    scratch = 0 if metadata is None else len(metadata.scratch)
    first_scratch = len(outline.parameters) - scratch
    lines = [
        f"# A contract for {demangled(outline.entry)},",
        f"# to complete where it says `{FILL_IN}`; docs/contracts.md has all keys.",
        "# As it is, without [ensures], `mmaproof verify` looks at what the kernel does to memory.",
        "",
        "[kernel]",
        f'isa = "{outline.isa}"',
        f'entry = "{outline.entry}"',
        f'# target = "{outline.target}" is what the file says'
        if outline.target
        else f'profile = "{outline.targets[0]}"  # {FILL_IN}: one of {", ".join(outline.targets)}',
        "",
        *_launch(outline, metadata, grid),
        "",
        "[sizes]",
        *(f"{size} = 1  # {FILL_IN}" for size in sizes),
        *([] if sizes else [f"# {FILL_IN}: M = 128"]),
    ]
    written = argument_types(outline.entry)
    types = [declared[each.name].type if each.name in declared else "" for each in outline.parameters]
    types = list(written) if len(written) == len(outline.parameters) else types
    maps = [each for each in outline.parameters if each.map_rank]
    told = () if metadata is None or len(metadata.maps) != len(maps) else metadata.maps
    said_of = {each.name: said for each, said in zip(maps, told, strict=False)}
    for number, (parameter, c_type) in enumerate(zip(outline.parameters, types, strict=True)):
        lines += ["", "[[param]]", f'name = "{names[parameter.name]}"' + _comment(parameter.name, names)]
        if metadata is not None and number >= first_scratch:
            lines += _scratch(metadata.scratch[number - first_scratch])
        elif parameter.map_rank:
            told_map = said_of.get(parameter.name)
            lines += map_lines(parameter, names[parameter.name], outline, told_map)
        else:
            lines += _parameter(parameter, names, outline, c_type, sizes)
    for each in outline.leaves:
        if each.behind is not None:
            lines += ["", "[[array]]", f'name = "{names[each.behind.name]}"']
            lines += _array(each.behind, names, outline, "")
    for each in maps:
        lines += array_lines(each, names[each.name], outline, said_of.get(each.name))
    lines += ["", "# [ensures]", *_formula(outline, names)]
    return "\n".join([*lines, ""])


def _grid(metadata: TritonMetadata | None, names: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the grid that is told, and the parameters it depends on, which are sizes then."""
    if metadata is None:
        return (), ()
    words = dict.fromkeys(_NAME.findall(" ".join(metadata.grid)))
    sizes = [word for word in words if word not in KEYWORDS]
    integers = [name for name, kind in metadata.signature.items() if kind in _SIZE_TYPES]
    return (metadata.grid, sizes) if {*names.values()} & {*integers} >= {*sizes} else ((), ())


def _launch(outline: KernelOutline, metadata: TritonMetadata | None, grid: Sequence[str]) -> Iterator[str]:
    if not outline.launched:
        yield from (f"# it has {product}" for product in outline.products)
        return
    yield "[launch]"
    if grid:
        yield f"grid = {json.dumps(grid)}  # as the Python source launches it"
    else:
        yield f'grid = 1  # {FILL_IN}: blocks, an extent or [x, y, z], such as ["(N + 31) // 32", 1]'
    if outline.threads:
        yield _block(outline, metadata)
    if metadata is not None:
        yield f"dynamic_shared = {metadata.shared}  # bytes, as Triton says"
    elif outline.dynamic:
        what = ", ".join(f"{name}, aligned to {alignment}" for name, alignment in outline.dynamic)
        yield f"dynamic_shared = 0  # {FILL_IN}: bytes ({what})"
    for product in outline.products:
        yield f"# it has {product}"
    if outline.shared:
        yield f"# {outline.shared} bytes of shared memory are the kernel's own"


def _block(outline: KernelOutline, metadata: TritonMetadata | None) -> str:
    if outline.block is not None:
        return f"block = {list(outline.block)}  # the kernel demands it"
    if metadata is not None:
        return f"block = {metadata.threads}  # the warps that Triton says"
    if outline.most_threads is not None:
        return f"block = {outline.most_threads}  # {FILL_IN}: the kernel takes at most so many threads"
    if any(product.startswith("wgmma") for product in outline.products):
        return f"block = {_WARPGROUP}  # {FILL_IN}: threads, a multiple of the {_WARPGROUP} of a warpgroup"
    return f"block = 32  # {FILL_IN}: threads, an extent or [x, y, z]"


def _parameter(
    parameter: ParameterUse,
    names: dict[str, str],
    outline: KernelOutline,
    c_type: str,
    sizes: Collection[str] = (),
) -> Iterator[str]:
    if parameter.is_structure:
        yield f"size = {parameter.size}"
        if not parameter.fields:
            yield "fields = []  # the kernel loads none"
        for each in parameter.fields:
            yield from ("", "[[param.fields]]", f'name = "{names[each.name]}"', f"offset = {each.offset}")
            yield from _parameter(each, names, outline, "")
        return
    if parameter.behind is not None:
        yield 'type = "pointer"'
        yield f'to = ["{names[parameter.behind.name]}"]  # {FILL_IN}: where the addresses there lead to'
        yield f"# at = [0]  # {FILL_IN} where they lead behind the beginnings of these, in bytes"
        yield from _where_none_is_passed(parameter)
        yield from _described_accesses(parameter)
        return
    if parameter.is_pointer and (parameter.accesses or parameter.used):
        yield from _array(parameter, names, outline, c_type)
        return
    fmt = _C_TYPES.get(c_type) or _scalar_type(parameter)
    yield f'type = "{fmt}"'
    if not parameter.used:
        yield "value = 0  # the kernel never reads it"
        if parameter.size == POINTER:
            yield f"# shape = [1]  # {FILL_IN}, with a type and no value, if it should read an array"
        return
    if names[parameter.name] in sizes:
        yield f'value = "{names[parameter.name]}"'
        return
    compared = f"; compared in {listed(parameter.compared)}" if parameter.compared else ""
    if isinstance(FORMATS[fmt], FloatFormat):
        yield f'value = "any"  # {FILL_IN} a number where it is always the same{compared}'
    else:
        yield f'value = 1  # {FILL_IN}: a number, an expression in sizes, or "any"{compared}'


def _array(
    parameter: ParameterUse, names: dict[str, str], outline: KernelOutline, c_type: str
) -> Iterator[str]:
    fmt, told = _element_type(parameter, outline)
    pointed = c_type.removesuffix("__restrict__").rstrip("* ").removesuffix("const").strip()
    if c_type.endswith("*") and pointed in _C_TYPES:
        fmt, told = _C_TYPES[pointed], True
    width = f"an index goes on by {parameter.step} bytes" if parameter.step else "by the width of accesses"
    yield f'type = "{fmt}"' + ("" if told else f"  # {FILL_IN}: a guess, {width}")
    indices = ", ".join(names[index] for index in parameter.indices)
    yield f"shape = [1]  # {FILL_IN}: extents" + (f"; addresses depend on {indices}" if indices else "")
    access = {(True, True): "inout", (False, True): "out"}.get(
        (parameter.is_read, parameter.is_written), "in"
    )
    workspace = (
        f'  # {FILL_IN} "scratch" for a workspace, of which no formula speaks' if access == "inout" else ""
    )
    yield f'access = "{access}"{workspace}'
    if any(map(_is_of_many, parameter.accesses)):
        yield f"# values = [0]  # {FILL_IN}: what it holds at first, of a lock, a count or a sum of many"
    elif access == "in" and (parameter.is_index or _may_be_index(FORMATS[fmt])):
        yield f"# values = [0]  # {FILL_IN} where addresses, or ways to go, depend on what it holds"
    if parameter.alignment is not None and parameter.alignment > 1:
        yield f"alignment = {max(parameter.alignment, 1)}  # the kernel declares it"
    yield from _where_none_is_passed(parameter)
    yield from _described_accesses(parameter)


def _where_none_is_passed(parameter: ParameterUse) -> Iterator[str]:
    if parameter.compared:
        where = f"it is compared with 0 in {listed(parameter.compared)}"
        yield f'# value = 0  # {FILL_IN}, with type = "u64" and no more, where none is passed: {where}'


def _described_accesses(parameter: ParameterUse) -> Iterator[str]:
    for what, some in (
        ("read", [access for access in parameter.accesses if access.reads]),
        ("written", [access for access in parameter.accesses if access.writes]),
    ):
        if some:
            yield f"# {what} by {described(some)}"


_INDEX_BITS = (32, 64)
"""Widths of integers that arrays of indices have."""


def _may_be_index(fmt: Format) -> bool:
    return isinstance(fmt, IntegerFormat) and fmt.bits in _INDEX_BITS


def _is_of_many(access: MemoryAccess) -> bool:
    """Tell whether threads use a place together: by atomics, or where they wait."""
    return not {"atom", "red", "acquire", "volatile"}.isdisjoint(access.mnemonic.split("."))


def _element_type(parameter: ParameterUse, outline: KernelOutline) -> tuple[str, bool]:
    """Return the type of an array's elements, and whether the code tells it."""
    types = {access.type for access in parameter.accesses if access.type is not None}
    told = {_MEMORY_TYPES.get(type_, type_) for type_ in types}
    floats = {each for each in told if isinstance(FORMATS.get(each), FloatFormat)}
    if len(floats) == 1:
        return floats.pop(), True
    sizes = [access.size for access in parameter.accesses if access.size]
    width = parameter.step or min(sizes, default=_WORD)
    if parameter.is_index or any(map(_is_of_many, parameter.accesses)):
        signed = not floats and any(each.startswith("s") for each in told)
        return f"{'s' if signed or parameter.is_index else 'u'}{8 * min(width, POINTER)}", False
    known = [FORMATS[each] for each in told if each in FORMATS]
    if len(told) == len(known) == 1 and known[0].bits != 16 and known[0].bits <= 8 * width:
        return known[0].name, False
    products = (*outline.summed, *outline.multiplied) if parameter.is_written else outline.multiplied
    names = dict.fromkeys(_MEMORY_TYPES.get(product, product) for product in products)
    fitting = [name for name in names if name in FORMATS and _fits(FORMATS[name], parameter, width, sizes)]
    return fitting[0] if fitting else _BY_SIZE.get(width, "u8"), False


def _fits(fmt: Format, parameter: ParameterUse, width: int, sizes: list[int]) -> bool:
    """Tell whether elements of a format may be what an array has, by what indices and accesses go on by."""
    if parameter.step is not None and parameter.step < POINTER:
        return fmt.bits == 8 * parameter.step
    return fmt.bits == 8 * width or min(sizes, default=0) >= (_VECTOR if parameter.is_written else _WORD)


def _scalar_type(parameter: ParameterUse) -> str:
    """Return the type of a value; integers are signed, so that they may be any number that fits."""
    found = FORMATS.get(parameter.type or "")
    if isinstance(found, FloatFormat) and found.bits == 8 * parameter.size:
        return found.name
    if found is not None and found.bits == 1:
        return found.name
    return f"{'u' if parameter.size == 8 and not parameter.used else 's'}{8 * parameter.size}"


def _scratch(size: int) -> Iterator[str]:
    if size:
        yield 'type = "u8"'
        yield f"shape = [{size}]  # {FILL_IN}: Triton's scratch memory, {size} bytes for each block"
        yield 'access = "scratch"'
    else:
        yield 'type = "u64"'
        yield "value = 0  # Triton's scratch memory, of which there is none"


def _formula(outline: KernelOutline, names: dict[str, str]) -> Iterator[str]:
    called = {array.name: names[array.name] for array in outline.arrays}
    called |= {array.name: array_name(names[array.name]) for array in outline.arrays if array.map_rank}
    outputs = [called[array.name] for array in outline.arrays if array.is_written]
    inputs = [called[array.name] for array in outline.arrays if not array.is_written]
    if not outputs:
        yield f'# formula = ""  # {FILL_IN}'
        return
    if outline.products and len(inputs) > 1:
        yield f'# formula = "{outputs[0]}[i, j] = sum(k, {inputs[0]}[i, k] * {inputs[1]}[k, j])"  # {FILL_IN}'
        return
    of = inputs[0] if inputs else outputs[0]
    yield f'# formula = "{outputs[0]}[i] = {of}[i]"  # {FILL_IN}'


def _names(outline: KernelOutline, declared: Mapping[str, Declared]) -> dict[str, str]:
    """Return names for formulas: those of the source, or of the file without the kernel's; or p0, p1, …."""
    found: dict[str, str] = {}
    for number, parameter in enumerate((*outline.parameters, *outline.leaves, *outline.arrays)):
        if parameter.name in found:
            continue
        own = parameter.name.lstrip("*")
        name = own.removeprefix(outline.entry).strip("_%$.")
        name = re.sub(r"\Aparam_(\d+)", r"p\1", _NOT_A_LETTER.sub("_", name))
        name = declared[own].name if own in declared else name
        name += "_data" * (len(parameter.name) - len(own))
        usable = re.fullmatch(r"[A-Za-z_]\w*", name) and name not in KEYWORDS and name not in found.values()
        found[parameter.name] = name if usable else f"p{number}"
    return found


def _comment(name: str, names: dict[str, str]) -> str:
    return "" if names[name] == name else f"  # {cut(name)}"
