"""Sizes at which a problem is verified: its own are too large to unroll, and smaller ones tell as much.

A problem names its sizes as numbers at the top of its file. Each becomes a smaller one that has as many
factors of two as it has, up to an alignment: kernels may rely on a multiple of their tile, and are not blamed
at a size that the problem does not have.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path

from ...spec.errors import InputError
from ...spec.text_files import read_text
from .recording import Launch, Operation, Recording, View

Sizes = dict[str, int | tuple[int, ...]]

KEPT = 8
"""Numbers up to here are kept: extents of kernels of convolutions, strides, groups."""

_BATCH = 2
"""Batches up to here are kept."""

_GROUPS = 2
_SMALL = 2
"""An alignment at which numbers need not be odd multiples of it."""

ALIGNMENTS = (2, 4, 8, 16, 32, 64, 128, 256)
"""Up to which powers of two factors are kept, the cheapest first."""

TILE = 32
"""Factors of two that a kernel relies on where it has no remainders of loops."""

LEAST = (0, 4, 6, 10)
"""What numbers are at least at the smallest alignment: windows of convolutions and pools must fit."""

WORK = 16_000
"""How much a reference may be where it is run on terms first: some seconds."""

ELEMENT = 8
"""How many multiplications of a matrix product an element of another operation counts as."""

REDUCED = 24
"""The same of an element that a sum, a mean or a running sum is of: quotients and roots depend on many."""

CHOSEN = 96
"""The same of an element that is compared with others, by which one is chosen."""

PLACED = 400
"""The same of an element of which the place is chosen so: it depends on the order of all."""

MOST_WORK = 1_000_000
"""How much is run to find out whether a smaller size is to blame for a refutation."""

BEYOND = 32 * MOST_WORK
"""What is not run on terms at all: they would take all memory before the time is up."""

_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
}  # fmt: skip


def one_by_one(tree: ast.Module) -> ast.Module:
    """Return a program in which ``a = b = 4`` and ``a, b = 4, 5`` at its top are several assignments."""
    body: list[ast.stmt] = []
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        pairs = [pair for target in targets for pair in _pairs(target, node.value)]  # type: ignore[attr-defined]
        if len(pairs) > 1 and all(_number(value) is not None for _, value in pairs):
            for target, value in pairs:
                single = ast.Assign([target], value)
                body.append(ast.fix_missing_locations(ast.copy_location(single, node)))
        else:
            body.append(node)
    return ast.Module(body, tree.type_ignores)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return what is assigned to which name."""
    lists = (ast.Tuple, ast.List)
    if isinstance(target, lists) and isinstance(value, lists) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _number(node: ast.expr) -> int | tuple[int, ...] | None:
    """Return an integer, or some, that is written down; sums and products of such are, too."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return -inner if isinstance(inner, int) else None
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _number(node.left), _number(node.right)
        both = isinstance(left, int) and isinstance(right, int)
        return _ARITHMETIC[type(node.op)](left, right) if both else None  # type: ignore[arg-type]
    if isinstance(node, ast.Tuple | ast.List) and node.elts:
        parts = [_number(element) for element in node.elts]
        whole = [part for part in parts if isinstance(part, int)]
        return tuple(whole) if len(whole) == len(parts) else None
    return None


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
        raise InputError(f"is not a Python program: {reason.msg}", f"{path}:{reason.lineno}") from None
    found: Sizes = {}
    for node in one_by_one(tree).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = _number(node.value)
            if value is not None:
                found[node.targets[0].id] = value
    return found


def chosen_sizes(own: Sizes, sizes: Mapping[str, int | Sequence[int]] | None, problem: Path) -> Sizes | None:
    """Return all sizes, where some are given.

    Raises
    ------
    InputError
        If there is no such size.
    """
    if sizes is None:
        return None
    for name in sizes:
        if name not in own:
            known = ", ".join(own) or "none"
            raise InputError(f"has no top-level number {name}; there are: {known}", str(problem))
    return {**own, **{name: v if isinstance(v, int) else tuple(v) for name, v in sizes.items()}}


def factor_of_two(number: int) -> int:
    """Return the greatest power of two that divides a number."""
    return number & -number


def smaller(
    own: Mapping[str, int | tuple[int, ...]], alignment: int, least: int = 0, *, together: bool = False
) -> Sizes:
    """Return smaller sizes, with the factors of two of a problem's own ones up to an alignment.

    Different numbers stay different, so that rows and columns are not mixed up unseen. Batches are small, and
    of groups there are two, so that each has several channels.

    Parameters
    ----------
    own : mapping
        The problem's own sizes.
    alignment : int
        A power of two.
    least : int
        What others than batches are at least: windows must fit.
    together : bool
        Whether a batch and another number that are equal stay equal.
    """
    chosen: dict[tuple[int, bool], int] = {}
    others = set(_numbers({name: value for name, value in own.items() if not _is_batch(name)}))
    groups = [_GROUPS] if any(map(_is_group, own)) else []

    def of(name: str, value: int) -> int:
        if _is_group(name) and value % 2 == 0:
            return min(value, _GROUPS)
        if value <= (KEPT if not _is_batch(name) else _BATCH):
            return value
        key = value, _is_batch(name) and not (together and value in others)
        if key not in chosen:
            most = (alignment // 4 or 1) if key[1] else alignment  # any batch at the smallest alignment
            unit = min(factor_of_two(value), most)
            enough = _BATCH if key[1] else max(alignment, least)
            step = 2 if unit > _SMALL else 1  # an odd multiple of a tile is none of a larger one
            count = max(1, -(-min(value, enough) // unit))
            count += (1 - count % 2) * (step - 1)
            while unit * (count + step) <= value and (
                unit * count in (*chosen.values(), *groups)
                or factor_of_two(unit * count) > factor_of_two(value)
            ):
                count += step
            chosen[key] = min(unit * count, value)
        return chosen[key]

    every = [(name, value) for name in own for value in _numbers({name: own[name]})]
    for name, value in sorted(every, key=lambda pair: pair[1]):  # small ones have the least choice
        of(name, value)
    return {
        name: of(name, value) if isinstance(value, int) else tuple(of(name, each) for each in value)
        for name, value in own.items()
    }


def ladder(own: Mapping[str, int | tuple[int, ...]], *, together: bool = False) -> list[Sizes]:
    """Return sets of sizes, the cheapest first; the problem's own ones at the end where these are small."""
    found: list[Sizes] = []
    rungs = [*((_SMALL, least) for least in LEAST), *((each, 0) for each in ALIGNMENTS)]
    for alignment, least in rungs:
        sizes = smaller(own, alignment, least, together=together)
        if sizes not in found:
            found.append(sizes)
    found.sort(key=_product)
    if dict(own) not in found and _product(own) <= 1 << 20:
        found.append(dict(own))
    return found


def in_proportion(own: Mapping[str, int | tuple[int, ...]]) -> list[Sizes]:
    """Return sets of sizes, the cheapest first, of which all but small ones are divided by one power of two.

    A width may have to be a multiple of a number of channels, as where a layer norm is over what it becomes.
    """
    large = {name: value for name, value in own.items() if not _is_batch(name) and not _is_group(name)}
    divisor = min((factor_of_two(each) for each in _numbers(large) if each > KEPT), default=1)
    few, found = smaller(own, _SMALL), list[Sizes]()

    def of(value: int) -> int:
        return value if value <= KEPT else value // divisor

    while divisor > 1:
        divided: Sizes = {
            name: of(value) if isinstance(value, int) else tuple(map(of, value))
            for name, value in large.items()
        }
        found.append({name: divided.get(name, few[name]) for name in own})
        divisor //= 2
    return found


def with_batches_of(
    sizes: Mapping[str, int | tuple[int, ...]], others: Mapping[str, int | tuple[int, ...]]
) -> Sizes:
    """Return sizes with the batches of others."""
    return {name: others[name] if _is_batch(name) else value for name, value in sizes.items()}


def with_smaller_batches(own: Mapping[str, int | tuple[int, ...]]) -> list[Sizes]:
    """Return a problem's own sizes, and the same with smaller and smaller batches."""
    found: list[Sizes] = [dict(own)]
    while True:
        last = found[-1]
        halved: Sizes = {
            name: max(value // 2, min(value, 1)) if _is_batch(name) and isinstance(value, int) else value
            for name, value in last.items()
        }
        if halved == last:
            return found
        found.append(halved)


def with_smaller_extents(sizes: Mapping[str, int | tuple[int, ...]], fixed: Collection[int]) -> list[Sizes]:
    """Return sizes of which the largest is halved again and again, where it stays a multiple of `TILE`.

    Parameters
    ----------
    sizes : mapping
        The sizes to begin with, which are not returned.
    fixed : collection of int
        Numbers that are not halved, as those in a candidate's text.
    """
    found: list[Sizes] = []
    last: Sizes = dict(sizes)
    while True:
        even = {name: value for name, value in last.items() if isinstance(value, int) and value not in fixed}
        wide = {name: value for name, value in even.items() if value > TILE and value % (2 * TILE) == 0}
        if not wide:
            return found
        largest = max(wide, key=lambda name: wide[name])
        last = {**last, largest: wide[largest] // 2}
        found.append(last)


def telling(
    own: Mapping[str, int | tuple[int, ...]],
    kept: Collection[int],
    least: Mapping[str, int | tuple[int, ...]],
    *,
    together: bool = False,
) -> Sizes:
    """Return small sizes at which what is wrong is hardly so because of them.

    All but batches and groups have the factors of two of a problem's own sizes up to `TILE`; numbers in
    `kept` stay as they are, as those that a candidate has in its text. None is less than in `least`, where
    something is wrong: what ends at a greater size than these is as wrong at the problem's own.
    """
    others = set(_numbers({name: value for name, value in own.items() if not _is_batch(name)}))

    def of(name: str, value: int, wrong: int) -> int:
        if value <= KEPT or value in kept:
            return value
        if _is_batch(name) and not (together and value in others):
            return max(2, wrong)
        if _is_group(name) and value % 2 == 0:
            return max(_GROUPS, wrong)
        unit = min(factor_of_two(value), TILE)
        count = -(-max(min(value, LEAST[-1]), wrong) // unit)
        return min(unit * (count + 1 - count % 2), value)

    def each_of(name: str) -> int | tuple[int, ...]:
        value, wrong = own[name], least[name]
        if isinstance(value, int) or isinstance(wrong, int):
            assert isinstance(value, int) and isinstance(wrong, int)
            return of(name, value, wrong)
        return tuple(of(name, *pair) for pair in zip(value, wrong, strict=True))

    return {name: each_of(name) for name in own}


def _product(sizes: Mapping[str, int | tuple[int, ...]]) -> int:
    return prod(max(abs(number), 1) for number in _numbers(sizes))


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

    Without `batches`, those that are called so, or groups, may have fewer.
    """
    names = [name for name in own if batches or not (_is_batch(name) or _is_group(name))]
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


def _is_group(name: str) -> bool:
    return "group" in name.lower()


def work(recording: Recording) -> int:
    """Return about how many operations on elements a recording has."""
    return sum(_work(step) for step in recording.steps if not isinstance(step, Launch))


def _work(step: Operation) -> int:
    views = [argument for argument in step.arguments if isinstance(argument, View)]
    results = sum(_count(result.shape) for result in step.results if result is not None)
    if step.name == "convolution":
        x, weight = views[:2]
        is_transposed = bool(step.arguments[6])
        return (_count(x.shape) if is_transposed else results) * _count(weight.shape[1:])
    if step.name in ("mm", "bmm", "addmm", "baddbmm", "mv", "dot", "addmv"):
        return results * views[-1].shape[-2 if len(views[-1].shape) > 1 else -1]
    weight_of_one = next((weight for names, weight in _WEIGHTS if step.name in names), ELEMENT)
    return weight_of_one * max([results, *(_count(view.shape) for view in views)])


_REDUCTIONS = (
    "sum", "mean", "var", "prims.var", "prod", "cumsum", "cumprod", "linalg_vector_norm", "_softmax",
    "_log_softmax", "_safe_softmax",
)  # fmt: skip
_WEIGHTS = (
    (("argmax", "argmin"), PLACED),
    (("max", "min", "amax", "amin"), CHOSEN),
    (_REDUCTIONS, REDUCED),
)


def _count(shape: Sequence[int]) -> int:
    return prod(shape)
