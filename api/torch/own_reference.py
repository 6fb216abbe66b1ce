"""A reference on numbers at the problem's own sizes, computed by PyTorch; runs in the host's process."""

from __future__ import annotations

import contextlib
import copy
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .own_numbers import REPEATED
from .recording import NotRecordedError, identifier
from .weights import whole

MOST_BYTES = 1 << 29
"""Bytes of inputs, weights and results that a reference may have."""

MOST_WORK = 3 * 10**11
"""Floating-point operations of matrix products and convolutions that it may take."""

QUICK = 10**9
"""The same of one that is computed twice, and in double precision; smaller batches are taken for it."""

MOST_PAIR = 10**10
"""The same for which a batch of two is taken where a batch of one takes half as many."""

FEW_BYTES = 1 << 24
"""Bytes for which smaller batches are taken."""

FEWEST_BYTES = 1 << 19
"""The same where results depend on all blocks of a launch, as sums of everything do: these have to be few."""

MOST_STEPS = 2 * 10**10
"""Multiplications of a candidate's steps on the host: numpy takes ten seconds for them."""

LARGE = 1 << 24
"""Elements of a weight of which drawing each takes long."""

SLACK = 1.25
"""How many times as much as that sizes may take that are greater."""

SCALE = 4.0
"""By how much inputs of the second draw are greater, where they are not from 0 to 1."""


def kept(
    model: Any,
    names: Sequence[str],
    draws: Iterable[tuple[int, Sequence[Any]]],
    held: Mapping[str, Any],
    folder: Path,
    operations: float,
) -> dict[str, Any]:
    """Compute what a reference gives for several draws of inputs, and leave all numbers as files.

    Parameters
    ----------
    model : Module or function
        The reference.
    names : sequence of str
        Of its inputs.
    draws : iterable of (int, sequence)
        Numbers of draws, and what it is called with; weights may be others for each.
    held : mapping
        Its weights.
    folder : Path
        Of the files.
    operations : float
        About how many operations it takes.

    Returns
    -------
    dict
        ``arrays``: the file and the type of each.
    """
    torch.set_num_threads(os.cpu_count() or 1)
    folder.mkdir(exist_ok=True)
    writer = _Writer(folder)
    for number, given in draws if operations <= QUICK else islice(draws, 1):
        for name, each in held.items():
            writer.write(f"{number} parameter {name}", each)
        for name, each in zip(names, given, strict=True):
            if isinstance(each, torch.Tensor):
                writer.write(f"{number} input {name}", each)
        for place, each in enumerate(_called(model, given)):
            writer.write(f"{number} result {place}", each)
        for place, each in enumerate(_in_double(model, given) if operations <= QUICK else ()):
            writer.write(f"{number} exact {place}", each)
    return {"arrays": writer.files}


def cost(made: Callable[[], tuple[Any, Sequence[Any]]]) -> tuple[int, int]:
    """Return the bytes that a reference has in inputs, weights and results, and how many operations it takes.

    Parameters
    ----------
    made : callable
        Returns the reference and its inputs; called where tensors have no data.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    with FakeTensorMode(), torch.no_grad():
        model, inputs = made()
        with FlopCounterMode(display=False) as counter:
            result = model(*inputs)
    held = [*model.parameters(), *model.buffers()] if isinstance(model, torch.nn.Module) else []
    every = [*inputs, *held, *(result if isinstance(result, tuple | list) else [result])]
    tensors = [each for each in every if isinstance(each, torch.Tensor)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors), counter.get_total_flops()


def affordable(
    choices: Sequence[Callable[[], tuple[Any, Sequence[Any]]]], most: int = FEW_BYTES
) -> tuple[int, int]:
    """Return at which of several sizes a reference is run, and its operations.

    It is the first that is quick, or that takes hardly more than the smallest.

    Parameters
    ----------
    choices : sequence of callable
        Return the reference and its inputs at each, the dearest first, as of `cost`.
    most : int
        Bytes that are few.

    Raises
    ------
    NotRecordedError
        If even the cheapest takes too much.
    """
    costs: list[tuple[int, int]] = []
    for made in choices:
        try:
            costs.append(cost(made))
        except (RuntimeError, ValueError):  # too small a batch, or one that has to be as another size
            if not costs:
                raise
            break
        if costs[-1][0] <= most and costs[-1][1] <= QUICK:
            break
    least = costs[-1]
    if 1 < len(costs) == len(choices) and all(map(operator.le, costs[-2], (MOST_BYTES, MOST_PAIR))):
        least = costs[-2]  # in a batch of one, what mixes up the parts of a batch goes unseen
    few, quick = (max(pair) for pair in zip((most, QUICK), least, strict=True))
    place = next(n for n, (held, work) in enumerate(costs) if held <= SLACK * few and work <= SLACK * quick)
    held, operations = costs[place]
    if held > MOST_BYTES or operations > MOST_WORK:
        said = f"{costs[0][0] >> 20:,} MiB and {costs[0][1] // 10**9:,} billion operations"
        raise NotRecordedError(f"the reference takes {said} at these sizes, too much to run on numbers")
    return place, operations


def require_quick(multiplications: int) -> None:
    """Refuse a candidate whose steps on the host take long on numbers, before the reference is run.

    Raises
    ------
    NotRecordedError
        If they do.
    """
    if multiplications > MOST_STEPS:
        many = f"{multiplications // 10**9:,} billion multiplications"
        raise NotRecordedError(f"its steps on the host are {many}, too many to run on numbers")


@contextlib.contextmanager
def unfilled() -> Iterator[None]:
    """Let large tensors of random numbers be memory that nobody writes, and so takes none."""

    class Unfilled(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, arguments: Any = (), options: Any = None
        ) -> Any:
            options = dict(options or {})
            if function in (torch.rand, torch.randn):
                kept = {key: options[key] for key in ("dtype", "device", "size") if key in options}
                return torch.empty(*arguments, **kept)
            return function(*arguments, **options)

    with Unfilled():
        yield


@contextlib.contextmanager
def quickly_drawn() -> Iterator[None]:
    """Let large weights be one number that is drawn for all: the same after the same seed, in little time."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class QuicklyDrawn(TorchDispatchMode):
        def __torch_dispatch__(
            self, function: Any, types: Any, arguments: Any = (), options: Any = None
        ) -> Any:
            draws = function in (torch.ops.aten.uniform_.default, torch.ops.aten.normal_.default)
            if draws and arguments[0].numel() > LARGE:
                number = torch.empty((), dtype=arguments[0].dtype)
                return arguments[0].fill_(function(number, *arguments[1:], **(options or {})))
            return function(*arguments, **(options or {}))

    with QuicklyDrawn():
        yield


class _Writer:
    """Writes tensors as files of numpy."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.files = folder, dict[str, list[str]]()

    def write(self, name: str, tensor: Any) -> None:
        plain = tensor.detach().cpu()
        held = plain.contiguous() if " result " in name or " exact " in name else whole(plain)
        dtype = str(plain.dtype).removeprefix("torch.")
        words = held.view(torch.int16) if dtype == "bfloat16" else held
        file = f"{len(self.files)}.npy"
        np.save(self.folder / file, words.numpy())
        self.files[name] = [file, dtype]


def of_sizes(draws: Sequence[Sequence[Any]], held: Mapping[str, Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield draws of inputs by number; of the second the magnitudes are greater."""
    for number, inputs in enumerate(draws):
        yield number, [_scaled(each) if number else each for each in inputs]


def of_one_sign(
    draws: Sequence[Sequence[Any]], held: Mapping[str, Any]
) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield draws 2 and 3: magnitudes of inputs and weights, and with the opposites of weights, or of inputs.

    Sums of products have one sign then, which tells an extremum that begins at 0. Where some weights are
    matrices, others, such as scales and biases, keep their sign, else it would be lost in products of both.
    """
    numbers = [each for each in held.values() if each.is_floating_point()]
    matrices = [each for each in numbers if sum(extent > 1 for extent in each.shape) > 1]
    for sign, inputs in zip((1, -1), draws, strict=True):
        for each in numbers:
            each.copy_(each.abs())
        for each in matrices or numbers:
            each.mul_(sign)
        yield len(draws) + (sign < 0), [_magnitude(each, 1 if numbers else sign) for each in inputs]


def repeated(
    small: Mapping[str, Any], names: Sequence[str], inputs: Sequence[Any], held: Mapping[str, Any]
) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield a draw of numbers that small arrays have, repeated along every axis, where there are such.

    Parameters
    ----------
    small : mapping of str to array
        Numbers of inputs and weights, by their names in contracts.
    names, inputs : sequence
        What the reference is called with.
    held : mapping
        Its weights, which are changed.
    """
    for name, each in held.items():
        each.copy_(_repeated(small.get(identifier("parameter", name)), each))
    pairs = zip(names, inputs, strict=True)
    yield REPEATED[0], [_repeated(small.get(identifier("input", name)), each) for name, each in pairs]


def _repeated(small: Any, value: Any) -> Any:
    if small is None or not isinstance(value, torch.Tensor) or small.ndim != value.ndim or not small.size:
        return value
    places = [np.arange(extent) % size for extent, size in zip(value.shape, small.shape, strict=True)]
    numbers = small[np.ix_(*places)] if places else small
    return torch.empty_like(value).copy_(torch.from_numpy(numbers))


def _magnitude(value: Any, sign: int) -> Any:
    return value.abs() * sign if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _scaled(value: Any) -> Any:
    """Return greater numbers, unless they are from 0 to 1, as probabilities are, or no floats."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.numel():
        return value
    least, most = float(value.min()), float(value.max())
    return value if least >= 0 and most <= 1 else value * SCALE


def _called(model: Any, inputs: Sequence[Any]) -> list[Any]:
    with torch.no_grad():
        result = model(*[each.clone() if isinstance(each, torch.Tensor) else each for each in inputs])
    return list(result) if isinstance(result, tuple | list) else [result]


def _in_double(model: Any, inputs: Sequence[Any]) -> list[Any]:
    """Return what it gives in double precision; nothing where it can't be computed so."""
    try:
        wide = copy.deepcopy(model).double() if isinstance(model, torch.nn.Module) else model
        given = [
            each.double() if isinstance(each, torch.Tensor) and each.is_floating_point() else each
            for each in inputs
        ]
        if isinstance(wide, torch.nn.Module):
            for module in wide.modules():
                for name, value in vars(module).items():
                    if isinstance(value, torch.Tensor) and value.is_floating_point():
                        setattr(module, name, value.double())
        return _called(wide, given)
    except Exception:  # what PyTorch raises of types that do not go together
        return []
