"""Sizes at which a problem is verified: its own are too large to unroll, and smaller ones tell as much.

A problem names its sizes as numbers at the top of its file. Each becomes a smaller one that has as many
factors of two as it has, up to an alignment: kernels may rely on a multiple of their tile, and are not blamed
at a size that the problem does not have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path

from ...spec.errors import InputError
from ...spec.text_files import read_text
from .recording import Launch, Operation, Recording, View

Sizes = dict[str, int | tuple[int, ...]]

KEPT = 8
"""Numbers up to here are kept: extents of kernels of convolutions, strides, groups."""

ALIGNMENTS = (4, 8, 16, 32, 64, 128, 256)
"""Up to which powers of two factors are kept, the cheapest first."""

WORK = 60_000
"""Multiplications of a reference that are run on terms in some seconds."""

ELEMENT = 8
"""How many of them an element of any other operation counts as."""

MOST_WORK = 1_000_000
"""How much is run to find out whether a smaller size is to blame for a refutation."""


def constants(path: Path) -> Sizes:
    """Return the integers, and tuples of them, that a file assigns at its top.

    Raises
    ------
    InputError
        If it is no program of Python.
    """
    try:
        tree = ast.parse(read_text(path), str(path))
    except SyntaxError as reason:
        raise InputError(f"is no program of Python: {reason.msg}", f"{path}:{reason.lineno}") from None
    found: Sizes = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        try:
            value = ast.literal_eval(node.value)
        except ValueError:
            continue
        if not isinstance(target, ast.Name):
            continue
        if type(value) is int:
            found[target.id] = value
        elif isinstance(value, tuple | list) and value and all(type(each) is int for each in value):
            found[target.id] = tuple(value)
    return found


def factor_of_two(number: int) -> int:
    """Return the greatest power of two that divides a number."""
    return number & -number


def smaller(own: Mapping[str, int | tuple[int, ...]], alignment: int) -> Sizes:
    """Return smaller sizes, with the factors of two of a problem's own ones up to an alignment.

    Different numbers stay different, so that rows and columns are not mixed up unseen.
    """
    chosen: dict[int, int] = {}

    def of(name: str, value: int) -> int:
        if value <= KEPT:
            return value
        if value not in chosen:
            most = max(4, alignment // 4) if _is_batch(name) else alignment
            unit = min(factor_of_two(value), most)
            least = 2 if _is_batch(name) else alignment
            count = max(1, -(-min(value, least) // unit))
            count += 1 - count % 2
            while unit * count in chosen.values() and unit * (count + 2) <= value:
                count += 2
            chosen[value] = min(unit * count, value)
        return chosen[value]

    return {
        name: of(name, value) if isinstance(value, int) else tuple(of(name, each) for each in value)
        for name, value in own.items()
    }


def ladder(own: Mapping[str, int | tuple[int, ...]]) -> list[Sizes]:
    """Return sets of sizes, the cheapest first; the problem's own ones at the end where these are small."""
    found: list[Sizes] = []
    for alignment in ALIGNMENTS:
        sizes = smaller(own, alignment)
        if sizes not in found:
            found.append(sizes)
    if dict(own) not in found and prod(max(abs(each), 1) for each in _numbers(own)) <= 1 << 20:
        found.append(dict(own))
    return found


def _numbers(sizes: Mapping[str, int | tuple[int, ...]]) -> Iterator[int]:
    for value in sizes.values():
        yield from (value,) if isinstance(value, int) else value


def keeps_factors(
    sizes: Mapping[str, int | tuple[int, ...]],
    own: Mapping[str, int | tuple[int, ...]],
    most: int = ALIGNMENTS[-1],
    *,
    batches: bool = True,
) -> bool:
    """Tell whether sizes have the factors of two of a problem's own ones, up to some power of two.

    Without `batches`, those that are called so may have fewer.
    """
    names = [name for name in own if batches or not _is_batch(name)]
    chosen_numbers = _numbers({name: sizes[name] for name in names})
    own_numbers = _numbers({name: own[name] for name in names})
    return all(
        min(factor_of_two(chosen), most) == min(factor_of_two(value), most)
        for chosen, value in zip(chosen_numbers, own_numbers, strict=True)
        if value
    )


def replaced(
    sizes: Mapping[str, int | tuple[int, ...]], own: Mapping[str, int | tuple[int, ...]]
) -> set[int]:
    """Return the numbers of a problem for which others stand."""
    return {value for value, chosen in zip(_numbers(own), _numbers(sizes), strict=True) if value != chosen}


def _is_batch(name: str) -> bool:
    return "batch" in name.lower()


def work(recording: Recording) -> int:
    """Return about how many operations on elements a recording has."""
    return sum(_work(step) for step in recording.steps if not isinstance(step, Launch))


def _work(step: Operation) -> int:
    views = [each for each in step.arguments if isinstance(each, View)]
    results = sum(_count(each.shape) for each in step.results if each is not None)
    if step.name == "convolution":
        x, weight = views[:2]
        return max(results, _count(x.shape)) * _count(weight.shape[1:])
    if step.name in ("mm", "bmm", "addmm", "baddbmm", "mv", "dot", "addmv"):
        return results * views[-1].shape[-2 if len(views[-1].shape) > 1 else -1]
    return ELEMENT * max([results, *(_count(each.shape) for each in views)])


def _count(shape: Sequence[int]) -> int:
    return prod(shape)
