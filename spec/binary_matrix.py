"""Matrices over F2, columns as integers: rank and inverse by elimination."""

from __future__ import annotations

from collections.abc import Iterable


def eliminated(columns: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return a reduced basis of what columns span.

    Parameters
    ----------
    columns : iterable of int
        Bit b of a column is its entry in row b.

    Returns
    -------
    dict of int to (int, int)
        The highest bit of each vector, a power of two that no other vector has, to the vector and the
        columns, bit k for column k, that xored are the vector. As many as the rank.
    """
    basis: dict[int, tuple[int, int]] = {}
    for place, column in enumerate(columns):
        vector, made_of = column, 1 << place
        for pivot, (other, others) in basis.items():
            if vector & pivot:
                vector, made_of = vector ^ other, made_of ^ others
        if vector:
            top = 1 << (vector.bit_length() - 1)
            for pivot, (other, others) in basis.items():
                if other & top:
                    basis[pivot] = (other ^ vector, others ^ made_of)
            basis[top] = (vector, made_of)
    return basis
