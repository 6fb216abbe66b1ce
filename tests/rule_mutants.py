"""Mutants of rules: their right sides with one constant, operator, function, order or guard changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from mmaproof.refinement.rules.expression import names
from mmaproof.refinement.rules.rule import Rule

_FUNCTIONS = {"max": "min", "min": "max", "ex2": "lg2", "sqrt": "rsqrt"}
_ORDERED = ("where", "concatenated")
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitXor, ast.LShift: ast.RShift,
}  # fmt: skip
_RELATIONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


def mutants(rule: Rule) -> Iterator[Rule]:
    """Yield rules with one fault in the right side, which may be equivalent to the rule."""
    seen = {rule.right}
    for text in (*_changed(rule.right), *_exchanged(rule), f"-({rule.right})"):
        if text not in seen:
            seen.add(text)
            before, after = _argument(rule.right), _argument(text)
            by = tuple(each.replace(before, after) if before and after else each for each in rule.by)
            yield replace(rule, right=text, fails={}, by=by)


def _argument(text: str) -> str:
    """Return the sum that a text applies a function to, with which axioms are instantiated; else nothing."""
    match ast.parse(text, mode="eval").body:
        case ast.Call(args=[ast.BinOp() as only]):
            return ast.unparse(only)
    return ""


def _changed(text: str) -> Iterator[str]:
    """Yield a text with one node changed at a time."""
    count = sum(1 for _ in ast.walk(ast.parse(text, mode="eval")))
    for place in range(count):
        tree = ast.parse(text, mode="eval")
        if _change(list(ast.walk(tree))[place]):
            yield ast.unparse(tree)


def _change(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=int()):
            node.value += 1
        case ast.BinOp() if type(node.op) in _OPERATORS:
            node.op = _OPERATORS[type(node.op)]()
        case ast.Compare(ops=[relation]) if type(relation) in _RELATIONS:
            node.ops = [_RELATIONS[type(relation)]()]
        case ast.Call(func=ast.Name(name), args=arguments):
            if name in _FUNCTIONS:
                node.func = ast.Name(_FUNCTIONS[name])
            elif name in _ORDERED:
                arguments[-2:] = arguments[:-3:-1]
            else:
                return False
        case _:
            return False
    return True


def _exchanged(rule: Rule) -> Iterator[str]:
    """Yield the right side with two variables exchanged."""
    variables = [name for name in names(rule.right) if name not in ("width", "k")]
    for one, other in pairwise(variables):
        if rule.sorts.get(one) != rule.sorts.get(other):
            continue
        tree = ast.parse(rule.right, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in (one, other):
                node.id = other if node.id == one else one
        yield ast.unparse(tree)
