"""Expressions of rules, written as Python writes them and evaluated over any algebra.

An algebra maps what is applied to a function: ``+``, ``<``, ``and``, ``where``, ``ex2``, …; ``number`` makes
its elements of literals.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

Functions = Mapping[str, Callable[..., Any]]
"""What operators and names of functions do in an algebra."""

_BINARY: Mapping[type[ast.operator], str] = MappingProxyType(
    {
        ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
        ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    }
)  # fmt: skip
_UNARY: Mapping[type[ast.unaryop], str] = MappingProxyType(
    {ast.USub: "negated", ast.Invert: "~", ast.Not: "not"}
)
_RELATIONS: Mapping[type[ast.cmpop], str] = MappingProxyType(
    {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
)


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def evaluate(text: str, functions: Functions, variables: Mapping[str, Any]) -> Any:
    """Return the value of an expression in an algebra."""
    return _value(_parsed(text), functions, variables)


def names(text: str) -> tuple[str, ...]:
    """Return the variables of an expression, in the order in which they first occur."""
    functions = {id(node.func) for node in ast.walk(_parsed(text)) if isinstance(node, ast.Call)}
    named = [node for node in ast.walk(_parsed(text)) if isinstance(node, ast.Name)]
    named.sort(key=lambda node: node.col_offset)
    return tuple(dict.fromkeys(node.id for node in named if id(node) not in functions))


def called(text: str) -> frozenset[str]:
    """Return the names of the functions in an expression."""
    calls = (node.func for node in ast.walk(_parsed(text)) if isinstance(node, ast.Call))
    return frozenset(call.id for call in calls if isinstance(call, ast.Name))


def _value(node: ast.expr, functions: Functions, variables: Mapping[str, Any]) -> Any:
    def of(inner: ast.expr) -> Any:
        return _value(inner, functions, variables)

    match node:
        case ast.Constant(value):
            return functions["number"](value)
        case ast.Name(name):
            return variables[name]
        case ast.UnaryOp(op, operand):
            return functions[_UNARY[type(op)]](of(operand))
        case ast.BinOp(left, op, right):
            return functions[_BINARY[type(op)]](of(left), of(right))
        case ast.Compare(left, [op], [right]):
            return functions[_RELATIONS[type(op)]](of(left), of(right))
        case ast.BoolOp(op, values):
            combine = functions["and" if isinstance(op, ast.And) else "or"]
            first, *others = map(of, values)
            for other in others:
                first = combine(first, other)
            return first
        case ast.Call(ast.Name(name), arguments):
            return functions[name](*map(of, arguments))
    raise ValueError(f"{ast.unparse(node)} is no expression of rules")
