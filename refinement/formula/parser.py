"""Reads formulas and expressions; the grammar is `formula.lark`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...spec.errors import InputError
from ...spec.formats import FORMATS, IntegerFormat
from ..terms.operations import INTEGRAL
from .definitions import Definition, expanded
from .derived_functions import DERIVED, counted, guarded, powered
from .tree import (
    Binary,
    Bound,
    Cast,
    Choice,
    Element,
    Extremum,
    Formula,
    Function,
    Infinite,
    Inverse,
    Lookup,
    Name,
    Negative,
    Node,
    Number,
    ReducedExtremum,
    ReducedProduct,
    Reduction,
    Source,
    Sum,
    is_truth,
    walk,
)

if TYPE_CHECKING:
    from lark import Lark

FUNCTIONS = MappingProxyType(
    {
        "exp2": "ex2", "log2": "lg2", "rcp": "rcp", "sqrt": "sqrt", "rsqrt": "rsqrt",
        "sin": "sin", "cos": "cos", "tanh": "tanh", "erf": "erf",
        **{name: name for name in INTEGRAL},
    }
)  # fmt: skip
"""Functions of one real number that are not interpreted: what formulas call them, and what terms do."""

_ARITIES = MappingProxyType(
    {
        "where": 3,
        "fma": 3,
        "cdiv": 2,
        **dict.fromkeys(("relu", "old", "round", *FUNCTIONS, *DERIVED), 1),
    }
)
_SUM, _PRODUCT = ("summed: sum(k, A[i, k] * B[k, j])", Sum), ("multiplied: prod(k, A[i, k])", ReducedProduct)
_OVER_INDICES = {"sum": _SUM, "prod": _PRODUCT}
WORDS = ("sum", "max", "min", "prod", "lookup", *_ARITIES)
"""Everything that can be called, besides the formats."""

KEYWORDS = frozenset({"if", "and", "or", "not", "inf", *WORDS}) - {"prod"}  # which came later
"""Names that no size, parameter or index can have. Those of types can be: only ``b1(x)`` is a conversion."""

_DEEPEST = 60
_DEEPEST_NODE = 120
_LONGEST = 10_000
_DIGITS = 40
_LARGEST = Fraction(sys.float_info.max)
_POWER = re.compile(r"2(?:\^|\*\*)(-?\d{1,3})")
_TERMINALS = MappingProxyType(
    {
        "NUMBER": "a number", "NAME": "a name", "RELATION": "a comparison", "SIGN": "'+' or '-'",
        "PRODUCT": "'*', '/', '//' or '%'", "SHIFT": "'<<' or '>>'", "AMPERSAND": "'&'", "$END": "the end",
        "LPAR": "'('", "RPAR": "')'", "LSQB": "'['", "RSQB": "']'", "COMMA": "','", "EQUAL": "'='",
        "IF": "'if'", "AND": "'and'", "OR": "'or'", "NOT": "'not'", "POWER": "'**'",
    }
)  # fmt: skip
_OPERATORS = frozenset({"RELATION", "SIGN", "PRODUCT", "POWER", "SHIFT", "AMPERSAND", "AND", "OR", "IF"})
_STARTS = frozenset({"NUMBER", "NAME", "SIGN", "LPAR"})


def parse_formula(source: Source, definitions: Mapping[str, Definition] = MappingProxyType({})) -> Formula:
    """Read a formula: ``C[i, j] = sum(k, A[i, k] * B[k, j]) if i < 10``.

    Parameters
    ----------
    source : Source
        The text.
    definitions : mapping of str to Definition
        Names that stand for parts.

    Raises
    ------
    InputError
        If it is not one; the message names the column and what was expected.
    """
    tree = _parsed(source, "formula")
    reader = _Reader(source)
    target, body, *guards = (child for child in tree.children if child is not None)
    element = reader.node(target)
    assert isinstance(element, Element)
    indices = [index for index in element.indices if isinstance(index, Name)]
    reader.bound |= {index.name for index in indices}
    condition = reader.truth(guards[0]) if guards else None
    part = expanded(source, reader.number(body), definitions, indices)
    formula = Formula(source, element, part, condition)
    for part in (element, formula.body, *([condition] if condition is not None else [])):
        _check_depth(source, part)
    return formula


def parse_error_formula(source: Source, formula: Formula, definitions: Mapping[str, Definition]) -> Formula:
    """Read how far the elements of a formula may be off: ``1e-3 * sum(k, abs(A[i, k] * B[k, j]))``.

    Parameters
    ----------
    source : Source
        The text, in which the indices of the formula's target have their meaning.
    formula : Formula
        What is to be computed.
    definitions : mapping of str to Definition
        Names that stand for parts.

    Raises
    ------
    InputError
        If it is not one; the message names the column and what was expected.
    """
    (body,) = _parsed(source, "expression").children
    reader = _Reader(source)
    indices = [index for index in formula.target.indices if isinstance(index, Name)]
    reader.bound |= {index.name for index in indices}
    part = expanded(source, reader.number(body), definitions, indices)
    _check_depth(source, part)
    return Formula(source, formula.target, part, formula.condition)


def parse_definition(source: Source, earlier: Mapping[str, Definition]) -> Definition:
    """Read what a name stands for: ``m[i] = max(j, X[i, j])``, or ``scale = 1 / sqrt(d)``.

    Parameters
    ----------
    source : Source
        The text.
    earlier : mapping of str to Definition
        Names that it may use.

    Raises
    ------
    InputError
        If it is not one; the message names the column and what was expected.
    """
    target, body = _parsed(source, "definition").children
    reader = _Reader(source)
    element = reader.node(target)
    assert isinstance(element, Element | Name)
    indices: dict[str, Name] = {}
    for index in element.indices if isinstance(element, Element) else ():
        if not isinstance(index, Name) or index.name in indices:
            raise source.error(index.at, "the indices of a definition are different names: m[i] = ...")
        indices[index.name] = index
    reader.bound |= set(indices)
    node = expanded(source, reader.number(body), earlier, indices.values())
    _check_depth(source, node)
    name = element.array if isinstance(element, Element) else element.name
    if name in earlier:
        raise source.error(element.at, f"there are two definitions of {name}")
    return Definition(name, tuple(indices), node, source)


def parse_condition(source: Source) -> tuple[Node, Node | None]:
    """Read a condition on inputs, and where it is to hold: ``abs(X[i, k]) <= 1e4 if i < k``.

    Parameters
    ----------
    source : Source
        The text.

    Raises
    ------
    InputError
        If it is not one; the message names the column and what was expected.
    """
    condition, *guards = (child for child in _parsed(source, "condition").children if child is not None)
    reader = _Reader(source)
    found = reader.truth(condition), reader.truth(guards[0]) if guards else None
    for part in found:
        if part is not None:
            _check_depth(source, part)
    return found


def parse_expression(source: Source) -> Node:
    """Read an arithmetic expression, such as one in the sizes of a contract: ``(M + 31) // 32``.

    Raises
    ------
    InputError
        If it is not one; the message names the column and what was expected.
    """
    (body,) = _parsed(source, "expression").children
    node = _Reader(source).number(body)
    _check_depth(source, node)
    return node


def _check_depth(source: Source, node: Node) -> None:
    """Refuse parts within parts that nobody could follow; a chain ``a + b + c`` is nested too."""
    pending = [(node, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > _DEEPEST_NODE:
            raise source.error(node.at, f"nested more than {_DEEPEST_NODE} levels deep")
        pending += [(operand, depth + 1) for operand in node.operands]


@cache
def _grammar() -> Lark:
    from lark import Lark

    text = Path(__file__).with_name("formula.lark").read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        start=["formula", "definition", "expression", "condition"],
        propagate_positions=True,
        maybe_placeholders=True,
    )


def _parsed(source: Source, start: str) -> Any:
    from lark import Tree, UnexpectedInput

    if len(source.text) > _LONGEST:
        raise source.error(0, f"{len(source.text)} characters are too many; at most {_LONGEST}")
    try:
        tree = _grammar().parse(source.text, start=start)
    except UnexpectedInput as error:
        raise _syntax_error(source, error) from None
    pending: list[tuple[Any, int]] = [(tree, 0)]
    while pending:
        part, depth = pending.pop()
        if depth > _DEEPEST or len(part.children) > 2 * _DEEPEST:
            raise source.error(0, "the formula is nested too deeply, or a part of it has too many operands")
        pending += [(child, depth + 1) for child in part.children if isinstance(child, Tree)]
    return tree


def _syntax_error(source: Source, error: Any) -> InputError:
    from lark import UnexpectedToken

    text = source.text
    if isinstance(error, UnexpectedToken):
        ended = error.token.type == "$END"
        offset = len(text.rstrip()) if ended else (error.token.start_pos or 0)
        found = "the end" if ended else repr(str(error.token)[:_DIGITS])
        expected = set(error.accepts or error.expected)
    else:
        offset = min(error.pos_in_stream or 0, len(text) - 1)
        found, expected = repr(text[offset : offset + 1]), set(error.allowed or ())
    return source.error(offset, f"expected {_listed(expected)}, not {found}")


def _listed(terminals: set[str]) -> str:
    names = set()
    if terminals >= _STARTS:
        names.add("an expression")
        terminals = terminals - _STARTS - {"NOT"}
    if len(terminals & _OPERATORS) > 3:
        names.add("an operator")
        terminals = terminals - _OPERATORS
    names |= {_TERMINALS.get(terminal, terminal) for terminal in terminals}
    *most, last = sorted(names) or ["something else"]
    return f"{', '.join(most)} or {last}" if most else last


def _index_name(node: Node) -> str | None:
    """Return the name in ``k`` or ``k < K``."""
    node = node.left if isinstance(node, Binary) else node
    return node.name if isinstance(node, Name) else None


def _is_indexed(node: Reduction, name: str) -> bool:
    """Tell whether a name stands in an index somewhere in what is reduced."""
    return any(
        isinstance(part, Name) and part.name == name
        for element in walk(node.body)
        if isinstance(element, Element)
        for index in element.indices
        for part in walk(index)
    )


class _Reader:
    """Makes nodes of parse trees.

    Parameters
    ----------
    source : Source
        The text, for messages.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.bound: set[str] = set()

    def number(self, tree: Any) -> Node:
        """Return the node of a number; a condition in its place counts 1 where it holds, else 0."""
        node = self.node(tree)
        return counted(node) if is_truth(node) else node

    def truth(self, tree: Any) -> Node:
        """Return the node of a condition."""
        node = self.node(tree)
        if not is_truth(node):
            raise self.source.error(node.at, "expected a condition such as i < j")
        return node

    def node(self, tree: Any) -> Node:
        """Return the node of a tree."""
        at = tree.meta.start_pos
        match tree.data:
            case "number":
                return self._literal(at, str(tree.children[0]))
            case "name":
                if str(tree.children[0]) == "inf":
                    return Infinite(at)
                return Name(at, self._allowed(tree.children[0]))
            case "element":
                name, *indices = tree.children
                return Element(at, self._allowed(name), tuple(self.number(index) for index in indices))
            case "signed":
                sign, operand = tree.children
                node = self.number(operand)
                return Negative(at, node) if sign == "-" else node
            case "power":
                base, sign, exponent = tree.children
                return powered(self.source, sign.start_pos, *map(self.number, (base, exponent)))
            case "call":
                name, *arguments = tree.children
                return self._call(at, str(name), [argument for argument in arguments if argument is not None])
            case "inverse":
                return Inverse(at, self.truth(tree.children[0]))
            case "comparison":
                return self._comparison(tree)
            case "conjunction" | "disjunction":
                return self._logical(tree, "and" if tree.data == "conjunction" else "or")
        first, *rest = tree.children
        result = self.number(first)
        for operator, operand in zip(rest[::2], rest[1::2], strict=True):
            result = Binary(operator.start_pos, str(operator), result, self.number(operand))
        return result

    def _allowed(self, token: Any) -> str:
        if str(token) in KEYWORDS:
            what = "needs arguments" if token in WORDS else "is not a name"
            raise self.source.error(token.start_pos, f"{token} {what}")
        return str(token)

    def _literal(self, at: int, text: str) -> Number:
        if len(text) > _DIGITS:
            raise self.source.error(at, f"a literal of {len(text)} characters; at most {_DIGITS}")
        if text.lower().startswith("0x"):
            return Number(at, Fraction(int(text, 16)), whole=True)
        if power := _POWER.fullmatch(text):
            return Number(at, Fraction(2) ** int(power.group(1)), whole="-" not in text)
        mantissa, _, exponent = text.lower().partition("e")
        if abs(int(exponent or 0)) > 400:
            raise self.source.error(at, f"{text} is out of range")
        value = Fraction(text)
        if value >= _LARGEST:
            raise self.source.error(at, f"{text} is out of range: beyond f64")
        return Number(at, value, whole=mantissa.isdigit() and not exponent)

    def _comparison(self, tree: Any) -> Node:
        """Read ``a < b <= c`` as ``a < b and b <= c``."""
        first, *rest = tree.children
        left = self.number(first)
        result: Node | None = None
        for relation, operand in zip(rest[::2], rest[1::2], strict=True):
            right = self.number(operand)
            one = Binary(relation.start_pos, str(relation), left, right)
            result = one if result is None else Binary(relation.start_pos, "and", result, one)
            left = right
        assert result is not None
        return result

    def _logical(self, tree: Any, operator: str) -> Node:
        result, *rest = (self.truth(child) for child in tree.children)
        for each in rest:
            result = Binary(each.at, operator, result, each)
        return result

    def _call(self, at: int, name: str, arguments: list[Any]) -> Node:
        if name in _OVER_INDICES:
            return self._over_indices(at, name, arguments)
        if name in ("max", "min"):
            reduced = self._reduced_extremum(at, name, arguments)
            return self._extremum(at, name, arguments) if reduced is None else reduced
        if name == "lookup":
            return self._lookup(at, [self.number(argument) for argument in arguments])
        if name not in _ARITIES and name not in FORMATS:
            close = get_close_matches(name[:_DIGITS], [*WORDS, *FORMATS], n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(WORDS)} and the formats"
            raise self.source.error(at, f"there is no function {name[:_DIGITS]}; {hint}")
        arity = _ARITIES.get(name, 1)
        if len(arguments) != arity:
            raise self.source.error(
                at, f"{name} takes {arity} argument{'s'[: arity - 1]}, not {len(arguments)}"
            )
        if name == "where":
            return Choice(at, self.truth(arguments[0]), *map(self.number, arguments[1:]))
        if name in FORMATS:
            return self._cast(at, name, arguments[0])
        return self._applied(at, name, [self.number(argument) for argument in arguments])

    def _applied(self, at: int, name: str, operands: list[Node]) -> Node:
        match name:
            case "relu":
                return Extremum(at, "max", operands[0], Number(at, Fraction(0), whole=True))
            case "old":
                element = operands[0]
                if not isinstance(element, Element):
                    raise self.source.error(element.at, "old takes an element of an array: old(C[i, j])")
                return Element(element.at, element.array, element.indices, old=True)
            case "cdiv":
                return Negative(at, Binary(at, "//", Negative(at, operands[0]), operands[1]))
            case "round":
                raise self.source.error(at, "round must stand directly in a cast to an integer: s8(round(x))")
            case _ if name in DERIVED:
                return DERIVED[name](at, operands[0])
        return Function(at, name, tuple(operands))

    def _lookup(self, at: int, arguments: list[Node]) -> Lookup:
        if len(arguments) < 2:
            raise self.source.error(at, "lookup takes an integer and what a table has: lookup(W[i], 0, 1)")
        entry, *table = arguments
        return Lookup(at, entry, tuple(table))

    def _cast(self, at: int, name: str, argument: Any) -> Cast:
        fmt = FORMATS[name]
        rounds = argument.data == "call" and argument.children[0] == "round" and len(argument.children) == 2
        nearest = rounds and isinstance(fmt, IntegerFormat)
        return Cast(at, fmt, self.number(argument.children[1] if nearest else argument), nearest=nearest)

    def _extremum(self, at: int, name: str, arguments: list[Any]) -> Node:
        if len(arguments) < 2:
            raise self.source.error(at, f"{name} takes at least 2 arguments, not {len(arguments)}")
        result, *rest = (self.number(argument) for argument in arguments)
        for each in rest:
            result = Extremum(at, name, result, each)
        return result

    def _over_indices(self, at: int, name: str, arguments: list[Any]) -> Reduction:
        what, kind = _OVER_INDICES[name]
        if len(arguments) < 2:
            raise self.source.error(at, f"{name} takes indices and what is {what}")
        bounds = tuple(self._bound(argument) for argument in arguments[:-1])
        return guarded(kind(at, bounds, self._inside(bounds, arguments[-1])), self.bound)

    def _inside(self, bounds: tuple[Bound, ...], body: Any) -> Node:
        """Return what is reduced over indices."""
        outside = set(self.bound)
        self.bound |= {bound.name for bound in bounds}
        node = self.number(body)
        self.bound = outside
        return node

    def _reduced_extremum(self, at: int, name: str, arguments: list[Any]) -> ReducedExtremum | None:
        """Return an extremum over indices; None where the arguments are numbers, of which it is one.

        Over indices it is where these have no other meaning, and the last argument is indexed by them.
        """
        *indices, body = arguments or [None]
        nodes = [self.node(index) for index in indices if index.data in ("name", "comparison")]
        if len(nodes) < max(1, len(indices)):
            return None
        if any(isinstance(each, Infinite) or _index_name(each) in self.bound for each in nodes):
            return None
        bounds = tuple(self._bound(index) for index in indices)
        node = ReducedExtremum(at, bounds, self._inside(bounds, body), name)
        indexed = all(bound.extent is not None or _is_indexed(node, bound.name) for bound in bounds)
        return guarded(node, self.bound) if indexed else None

    def _bound(self, tree: Any) -> Bound:
        node = self.node(tree)
        if isinstance(node, Name):
            return Bound(node.at, node.name, None)
        if isinstance(node, Binary) and node.operator == "<" and isinstance(node.left, Name):
            return Bound(node.left.at, node.left.name, node.right)
        raise self.source.error(node.at, "expected a summation index such as k, or k < K")
