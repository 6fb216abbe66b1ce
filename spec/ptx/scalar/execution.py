"""Scalar instructions on named arrays, as `mmaproof run` executes them: one element for each operand.

Names are those of the manual (``a``, ``b``, ``d``); the carry flag is ``carry``. A constant of the text is
taken from there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...algebra import Algebra, Array
from ...errors import InputError
from ...formats import Format
from ...numpy_words import NumpyWords
from ...operand_arrays import Matrix, Observer, execute
from ...word_algebra import unsigned
from ..operands import Integer
from .legality import Scalar
from .rows import ElementType, Form, Place

_ALGEBRA = NumpyWords()

CARRY = "carry"
"""The name of the carry flag."""


def _format(kind: ElementType) -> Format:
    return unsigned(kind.bits) if kind.lanes > 1 else kind.format


def _name(place: Place) -> str:
    return CARRY if place.is_flag else place.name


def run(
    scalar: Scalar,
    form: Form,
    arrays: Mapping[str, Array],
    *,
    as_registers: bool,
    observer: Observer | None = None,
) -> dict[str, Array]:
    """Execute an instruction.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong type or value, or the result is left open.
    """
    if form.row.meaning is None:
        raise InputError(f"{form.mnemonic} is judged, but not executed")
    if as_registers or observer is not None:
        raise InputError(f"{form.mnemonic} computes one element: it has no register view, and no trace")
    results, sources = form.places
    immediates = {place.name: _immediate(scalar, form, place) for place in sources if place.immediate}

    def compute(_: Algebra, given: Mapping[str, Array]) -> dict[str, Array]:
        shape = np.broadcast_shapes(*(np.shape(word) for word in given.values()))
        words = [
            immediates[place.name]
            if place.immediate
            else np.broadcast_to(given[_name(place)], shape).astype(np.uint64).reshape(-1)
            for place in sources
        ]
        computed = form.results(_ALGEBRA, words)
        return {
            _name(place): np.broadcast_to(word, np.prod(shape, dtype=int))
            .reshape(shape)
            .astype(_format(place.type).storage)
            for place, word in zip(results, computed, strict=True)
        }

    return execute(
        form.mnemonic,
        {_name(place): Matrix((), _format(place.type)) for place in sources if not place.immediate},
        {_name(place): Matrix((), _format(place.type)) for place in results},
        compute,
        arrays,
        as_registers=False,
        work=1,
    )


def _immediate(scalar: Scalar, form: Form, place: Place) -> int:
    """Return a constant that is part of the instruction."""
    if scalar.operands is not None:
        _, sources = form.written_places
        operand = scalar.operands[1 + sources.index(place)].operand
        if isinstance(operand, Integer):
            return operand.value
    raise InputError(f"{place.name} is a constant of the text: write {form.mnemonic} with its operands")
