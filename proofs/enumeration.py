"""Certificates by enumeration: numpy evaluates a property on every point of a finite domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from .obligation import Certificate, Equality, Property
from .replay import evaluate


def enumerated(prop: Property, domains: Mapping[str, Sequence[int]]) -> Certificate:
    """Return the certificate that a property holds on a product of finite sets.

    Parameters
    ----------
    prop : Property
        A property of scalar variables; it is the solver's witness too, for all encodings.
    domains : mapping of str to sequence of int
        The values of each variable that are distinct to the claim.
    """

    def check() -> str | None:
        grid = np.meshgrid(*domains.values(), indexing="ij")
        axes = zip(ordered, grid, strict=True)
        points = {v.name: axis.ravel().astype(v.format.storage) for v, axis in axes}
        for equation, wrong in evaluate(prop, points, Equality.BITS, batched=True):
            if wrong.any():
                first = int(np.argwhere(wrong)[0][0])
                at = ", ".join(f"{name} = {column[first]}" for name, column in points.items())
                return f"{equation.label} is false for {at}"
        return None

    by_name = {v.name: v for v in prop.variables}
    ordered = [by_name[name] for name in domains]
    complete = all(len(set(domains[v.name])) == 1 << v.format.bits for v in prop.variables)
    return Certificate(check, prod(map(len, domains.values())), prop, prop if complete else None)
