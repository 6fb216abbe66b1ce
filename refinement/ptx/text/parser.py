"""Parser of PTX modules, from text to `Module`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from lark import Token, Tree, UnexpectedInput

from ....spec.errors import InputError
from ....spec.text_files import read_text
from .declarations import Declarations
from .functions import FunctionReader
from .module import Function, Module, Variable
from .scopes import Scopes
from .syntax import grammar, syntax_error


def read(path: str | Path) -> Module:
    """Read a PTX file.

    Raises
    ------
    InputError
        If the file can't be read, or is no PTX.
    """
    text = read_text(Path(path))
    try:
        return parse(text, str(path))
    except InputError:
        if (hint := _SOURCES.get(Path(path).suffix.lower())) is None:
            raise
        raise InputError(f"is not PTX, but {hint}", str(path)) from None


_CUDA = "CUDA C++: compile it first, as by nvcc -ptx -arch=sm_80"
_SOURCES = MappingProxyType(
    {
        ".cu": _CUDA,
        ".cuh": _CUDA,
        ".py": "Python: Triton keeps the PTX of kernels in its cache, and mmaproof.triton.compiled writes it",
    }
)
"""What files are that somebody may take for a kernel's PTX, and where that is."""


def parse(text: str, path: str = "<ptx>") -> Module:
    """Read the text of a PTX module.

    Parameters
    ----------
    text : str
        The whole module.
    path : str
        Its file, for messages and for `Module.path`.

    Raises
    ------
    InputError
        If it is no PTX; the message begins with ``file:line:column``.
    """
    text = text.rstrip("\0")
    try:
        tree = grammar().parse(text, start="module")
    except UnexpectedInput as error:
        raise syntax_error(error, text, path) from None
    return _ModuleReader(tree, path).read()


class _ModuleReader:
    """From the tree of a module to the `Module`."""

    def __init__(self, tree: Tree[Token], path: str) -> None:
        self._items = [item for item in tree.children if isinstance(item, Tree)]
        self._path = path
        symbols = [name for item in self._items for name in _defined_names(item)]
        self._symbols = dict.fromkeys(symbols)
        self._declarations = Declarations(path)
        self._files = dict(self._declarations.file(item) for item in self._items if item.data == "file")

    def read(self) -> Module:
        version = self._one("version", "'.version'")
        target = [str(name) for name in self._one("target", "'.target'")]
        major, minor = str(version[0]).split(".")
        sizes = [item for item in self._items if item.data == "address_size"]
        size = self._declarations.integer(sizes[0].children[0]) if sizes else 32
        if size not in {32, 64}:
            raise InputError(f".address_size must be 32 or 64, not {size}", self._where(sizes[0]))
        return Module(
            (int(major), int(minor)),
            target[0],
            tuple(target[1:]),
            size,
            tuple(self._variables()),
            MappingProxyType(self._functions()),
            self._path,
        )

    def _one(self, kind: str, directive: str) -> list[Token]:
        found = [item for item in self._items if item.data == kind]
        if not found:
            raise InputError(f"there is no {directive} directive", self._path)
        return [token for token in found[0].children if isinstance(token, Token)]

    def _variables(self) -> Iterator[Variable]:
        scopes = Scopes(self._symbols)
        seen: dict[str, Variable] = {}
        for item in self._items:
            if item.data != "variable":
                continue
            for variable in self._declarations.variables(item, scopes):
                earlier = seen.get(variable.name)
                if earlier is not None and "extern" not in {*earlier.linkage, *variable.linkage}:
                    raise InputError(f"{variable.name!r} is declared twice", self._where(item))
                seen[variable.name] = variable
        yield from seen.values()

    def _functions(self) -> dict[str, Function]:
        functions: dict[str, Function] = {}
        for item in self._items:
            if item.data == "function":
                reader = FunctionReader(self._declarations, self._files, self._symbols, self._path)
                function = reader.read(item)
                earlier = functions.get(function.name)
                if earlier is not None and earlier.defined and function.defined:
                    raise InputError(f"{function.name!r} is defined twice", self._where(item))
                if earlier is None or function.defined:
                    functions[function.name] = function
            elif item.data == "alias":
                alias, original = map(str, item.children)
                if original not in functions:
                    raise InputError(f"{original!r} is not a function defined before", self._where(item))
                functions[alias] = replace(functions[original], name=alias)
        return functions

    def _where(self, item: Tree[Token]) -> str:
        token = next(item.scan_values(lambda child: isinstance(child, Token)))
        return f"{self._path}:{token.line}:{token.column}"


def _defined_names(item: Tree[Token]) -> list[str]:
    """Return the names that an item of a module declares in it."""
    owners = [item] if item.data in {"function", "alias"} else []
    if item.data == "variable":
        owners = [child for child in item.children if isinstance(child, Tree) and child.data == "declarator"]
    names = [[str(child) for child in owner.children if _is_name(child)] for owner in owners]
    return [name[0] for name in names]


def _is_name(node: object) -> bool:
    return isinstance(node, Token) and node.type == "NAME"
