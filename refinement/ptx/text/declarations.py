"""Declarations of variables, parameters and registers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lark import Token, Tree

from ....spec.errors import InputError
from ....spec.ptx.operands import Integer
from .instructions import constant, evaluated
from .module import TYPE_BITS, Parameter, Variable, type_bytes
from .operands import Displaced, GenericAddress, Initial, Symbol
from .scopes import Scopes

Node = Tree[Token] | Token | None

_POINTER_SPACES = ("global", "shared", "const", "local")
_SIZE_LIMIT = 1 << 48
_DIMENSIONS_LIMIT = 16
_VECTORS = ("v2", "v4", "v8")


@dataclass(slots=True)
class _Qualified:
    """What stands between a state space and a name."""

    type: str = ""
    alignment: int = 0
    is_pointer: bool = False
    pointer_space: str = "generic"
    pointer_alignment: int = 1


class Declarations:
    """Reads declarations of one file.

    Parameters
    ----------
    path : str
        The file, for messages.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def where(self, token: Token) -> str:
        """Return ``file:line:column``."""
        return f"{self._path}:{token.line}:{token.column}"

    def variables(self, tree: Tree[Token], scopes: Scopes, in_function: bool = False) -> Iterator[Variable]:
        """Read a declaration of variables; those in a function get their unique name."""
        linkage, space, *rest = tree.children
        assert isinstance(linkage, Tree)
        assert isinstance(space, Token)
        qualified = self._qualified([node for node in rest if not _is(node, "declarator")], space)
        for declarator in (node for node in rest if _is(node, "declarator")):
            assert isinstance(declarator, Tree)
            name, *dimensions, initialiser = declarator.children
            assert isinstance(name, Token)
            extents = self._extents(dimensions, name)
            unique = str(name)
            if in_function:
                unique = self._declared(scopes, name)
            initial: tuple[tuple[int, Initial], ...] = ()
            if initialiser is not None:
                assert isinstance(initialiser, Tree)
                shape = (*extents, *_lanes(qualified.type))
                values = self._initial(initialiser, shape, scopes, name)
                initial = tuple((index, value) for index, value in values if value != Integer(0))
                if None in extents:
                    extents = (len(_inner(initialiser.children[0])), *extents[1:])
            variable = Variable(
                unique,
                _space(space),
                qualified.type,
                extents,
                qualified.alignment or type_bytes(qualified.type),
                initial,
                tuple(str(word)[1:] for word in linkage.children),
                name.line or 0,
            )
            if (variable.size or 0) > _SIZE_LIMIT:
                raise InputError(f"{name!s} is larger than any memory", self.where(name))
            yield variable

    def parameter(self, tree: Tree[Token]) -> Parameter:
        """Read a parameter of a function."""
        space, *nodes = tree.children
        assert isinstance(space, Token)
        at = next(i for i, node in enumerate(nodes) if isinstance(node, Token) and node.type == "NAME")
        name = nodes[at]
        assert isinstance(name, Token)
        qualified = self._qualified(nodes[:at], space)
        return Parameter(
            str(name),
            qualified.type,
            self._extents(nodes[at + 1 :], name),
            qualified.alignment or type_bytes(qualified.type),
            qualified.pointer_space if qualified.is_pointer else None,
            qualified.pointer_alignment,
            space == ".reg",
            name.line or 0,
        )

    def registers(self, tree: Tree[Token], scopes: Scopes) -> None:
        """Declare registers."""
        ranges = [node for node in tree.children if isinstance(node, Tree)]
        first = ranges[0].children[0]
        assert isinstance(first, Token)
        kind = self._qualified([node for node in tree.children if isinstance(node, Token)], first).type
        for each in ranges:
            name, count = each.children
            assert isinstance(name, Token)
            try:
                if count is None:
                    scopes.declare_register(str(name), kind)
                else:
                    scopes.declare_range(str(name), self.integer(count), kind)
            except InputError as error:
                raise InputError(str(error), self.where(name)) from None

    def file(self, tree: Tree[Token]) -> tuple[int, str]:
        """Read a ``.file`` directive: its number and the file's name."""
        number, *rest = tree.children
        names = [token for token in rest if isinstance(token, Token) and token.type == "STRING"]
        return self.integer(number), str(names[-1]).strip('"')

    def integer(self, token: Node) -> int:
        """Read an integer token."""
        assert isinstance(token, Token)
        try:
            value = constant(str(token))
        except InputError as error:
            raise InputError(str(error), self.where(token)) from None
        assert isinstance(value, Integer)
        return value.value

    def _declared(self, scopes: Scopes, name: Token) -> str:
        try:
            return scopes.declare_symbol(str(name))
        except InputError as error:
            raise InputError(str(error), self.where(name)) from None

    def _qualified(self, nodes: Iterable[Node], place: Token) -> _Qualified:
        result = _Qualified()
        vector = ""
        for node in nodes:
            if _is(node, "attribute"):
                continue
            if isinstance(node, Tree):
                alignment = self.integer(node.children[0])
                if alignment.bit_count() != 1:
                    raise InputError(f".align must be a power of two, not {alignment}", self.where(place))
                if result.is_pointer:
                    result.pointer_alignment = alignment
                else:
                    result.alignment = alignment
                continue
            word = str(node)[1:]
            if word == "ptr":
                result.is_pointer = True
            elif result.is_pointer and word in _POINTER_SPACES:
                result.pointer_space = word
            elif word in _VECTORS and not vector:
                vector = f"{word}."
            elif word in TYPE_BITS and not result.type:
                result.type = word
            else:
                assert isinstance(node, Token)
                raise InputError(f"expected one type, such as '.b32', not {str(node)!r}", self.where(node))
        if not result.type:
            raise InputError("the declaration has no type, such as '.b32'", self.where(place))
        result.type = vector + result.type
        return result

    def _extents(self, dimensions: Sequence[Node], name: Token) -> tuple[int | None, ...]:
        if len(dimensions) > _DIMENSIONS_LIMIT:
            message = f"{name!s} has {len(dimensions)} dimensions; at most {_DIMENSIONS_LIMIT} are read"
            raise InputError(message, self.where(name))
        extents: list[int | None] = []
        for dimension in dimensions:
            assert isinstance(dimension, Tree)
            token = dimension.children[0]
            if token is None and extents:
                raise InputError(f"only the first extent of {name!s} may be left open", self.where(name))
            extents.append(None if token is None else self.integer(token))
        return tuple(extents)

    def _initial(
        self, tree: Tree[Token], shape: tuple[int | None, ...], scopes: Scopes, name: Token
    ) -> Iterator[tuple[int, Initial]]:
        """Return the initial values with their element indices, row-major."""
        strides = [1]
        for extent in reversed(shape[1:]):
            strides.append(strides[-1] * (extent or 0))
        strides.reverse()
        pending: list[tuple[Node, int, int]] = [(tree.children[0], 0, 0)]
        while pending:
            node, index, depth = pending.pop()
            if not _is(node, "aggregate"):
                if depth != len(shape):
                    message = (
                        f"the initial values of {name!s} must be nested as its {len(shape)} dimensions are"
                    )
                    raise InputError(message, self.where(name))
                yield index, self._value(node, scopes, name)
                continue
            if depth == len(shape):
                raise InputError(f"the initialiser of {name!s} is nested too deep", self.where(name))
            inner = _inner(node)
            extent = shape[depth]
            if extent is not None and len(inner) > extent:
                raise InputError(f"{name!s} has more initial values than elements", self.where(name))
            pending += [(child, index + strides[depth] * i, depth + 1) for i, child in enumerate(inner)][::-1]

    def _value(self, node: Node, scopes: Scopes, name: Token) -> Initial:
        try:
            if isinstance(node, Token):
                return scopes.resolve(str(node)) if node.type == "NAME" else constant(str(node))
            assert node is not None
            match node.data:
                case "expression":
                    return evaluated(node)
                case "displaced":
                    base, offset = node.children
                    return Displaced(self._symbol(base, scopes), _offset(offset))
                case _:
                    base, offset = node.children
                    inside: Node = None
                    if _is(base, "displaced"):
                        assert isinstance(base, Tree)
                        base, inside = base.children
                    return GenericAddress(self._symbol(base, scopes), _offset(inside) + _offset(offset))
        except InputError as error:
            if error.where is not None:
                raise
            raise InputError(str(error), self.where(name)) from None

    def _symbol(self, node: Node, scopes: Scopes) -> Symbol:
        found = scopes.resolve(str(node))
        if not isinstance(found, Symbol):
            raise InputError(f"an address is that of a variable, unlike {str(node)!r}")
        return found


def _offset(node: Node) -> int:
    """Return the value of a displacement that may be left out."""
    if node is None:
        return 0
    assert isinstance(node, Tree)
    value = evaluated(node)
    if not isinstance(value, Integer):
        raise InputError(f"a displacement is an integer, not {value}")
    return value.value


def _is(node: object, kind: str) -> bool:
    return isinstance(node, Tree) and node.data == kind


def _space(token: Token) -> str:
    """``.const[2]`` and ``.param::entry`` lie in the spaces of their first word."""
    return str(token)[1:].partition("[")[0].partition("::")[0]


def _inner(aggregate: Node) -> list[Node]:
    assert isinstance(aggregate, Tree)
    return [child for child in aggregate.children if child is not None]


def _lanes(kind: str) -> tuple[int, ...]:
    """Return the extent that a vector type adds to an array's."""
    return (int(kind.partition(".")[0][1:]),) if "." in kind else ()
