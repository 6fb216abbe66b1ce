"""Products of bit-vectors as unknowns: what holds whatever they are needs no multiplier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3


def without_products(assertions: Sequence[Any]) -> list[Any] | None:
    """Return assertions with a constant of its own for each product; None without any, or with quantifiers.

    If these can't be met, the assertions can't; if they can, nothing follows.
    """
    products = dict[int, Any]()
    pending, seen = list(assertions), set[int]()
    while pending:
        term = pending.pop()
        if term.get_id() in seen:
            continue
        if z3.is_quantifier(term):  # a product of bound variables is no one number
            return None
        seen.add(term.get_id())
        if z3.is_app_of(term, z3.Z3_OP_BMUL) and not any(map(z3.is_bv_value, term.children())):
            products[term.get_id()] = term
        else:
            pending += term.children()
    if not products:
        return None
    unknown = [(term, z3.FreshConst(term.sort(), "product")) for term in products.values()]
    return [z3.substitute(each, *unknown) for each in assertions]
