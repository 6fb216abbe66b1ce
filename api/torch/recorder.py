"""Records what host code does with tensors that have shapes, types and addresses, and no data.

Runs in the process that runs host code; nothing else imports it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import torch
from torch._decomp import decomposition_table
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from .held_memory import HeldMemory, shape_in_memory
from .recording import Launch, NotRecordedError, Operation, Passed, Pointer, Recording, Storage, View
from .streams import DEFAULT, Streams
from .unguarded import Unguarded

ADDRESS = 0x7D_0000_0000_0000
"""Where made-up addresses begin: no process has memory there, so that host code can't read it."""

SPAN = 1 << 36
"""Bytes between made-up addresses of two storages: none ends where the next one begins."""

EMPTY = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted")
ZEROS = ("zeros", "zeros_like", "new_zeros")
ONES = ("ones", "ones_like", "new_ones")
PRIMS = {
    name: name
    for name in (
        "add", "sub", "mul", "div", "neg", "abs", "exp", "log", "sqrt", "rsqrt", "tanh", "erf", "maximum",
        "minimum", "where", "sum", "amax", "amin", "eq", "ne", "lt", "le", "gt", "ge",
    )
} | {"convert_element_type": "_to_copy"}  # fmt: skip
"""Parts that operations are taken apart into which mean what an operation of the same name does."""

SILENT = ("device", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "is_same_size", "_version")
READS = ("_local_scalar_dense", "item", "equal", "is_nonzero", "nonzero", "unique")

HERE = __file__.rpartition("/")[0]
NOT_HOST_CODE = ("/torch/", "/triton/", "/contextlib")


def place() -> str:
    """Return ``file:line`` of the innermost line of host code that is none of PyTorch's or mmaproof's."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((HERE, "<frozen")) and not any(each in file for each in NOT_HOST_CODE):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Recorder(TorchDispatchMode):
    """Records operations on tensors, and what kernels are launched with.

    Parameters
    ----------
    known : collection of str
        Operations that are recorded as they are (``add``); others are taken apart as PyTorch does.
    """

    def __init__(self, known: Collection[str]) -> None:
        super().__init__()
        self.known = known
        self.fake = FakeTensorMode(allow_non_fake_inputs=True)
        self.recording = Recording()
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []
        self.held = HeldMemory(self.fake)
        self._fakes: dict[int, Any] = {}
        self._refused: Exception | None = None
        self.streams = Streams()
        self.written_parts: dict[tuple[str, str], tuple[int, int]] = {}

    # -- tensors
    def tensor(self, real: Any, origin: str, name: str, device: str = "cuda") -> Any:
        """Return a tensor without data in place of a real one."""
        if real.layout is not torch.strided or real.is_quantized or real.is_complex():
            raise NotRecordedError(f"{name} is not a dense tensor of real numbers")
        storage = real.untyped_storage()
        if storage._cdata in self._fakes:
            base = self._fakes[storage._cdata]
            with self.fake:
                return base.as_strided(real.shape, real.stride(), real.storage_offset())
        elements = storage.nbytes() // real.element_size()
        with self.fake:
            base = torch.empty(elements, dtype=real.dtype, device=device)
            made = base.as_strided(real.shape, real.stride(), real.storage_offset())
        held = Storage(_name(real.dtype), elements, origin, name, None, shape_in_memory(real))
        self._numbers[storage._cdata] = self.add(base, held)
        self._fakes[storage._cdata] = base
        self._alive.append(real)
        return made

    def add(self, tensor: Any, storage: Storage) -> int:
        """Add a storage, with a tensor in it, and return its number."""
        number = len(self.recording.storages)
        self.recording.storages.append(storage)
        self._numbers[tensor.untyped_storage()._cdata] = number
        self._alive.append(tensor)
        return number

    def number(self, tensor: Any) -> int:
        """Return the number of a tensor's storage; a real one is a constant."""
        if isinstance(tensor, torch.nn.Parameter):
            tensor = tensor.data
        key = tensor.untyped_storage()._cdata
        if key not in self._numbers:
            if isinstance(tensor, FakeTensor):
                raise NotRecordedError(f"a tensor of unknown origin, in {place()}")
            self._constant(tensor)
        return self._numbers[key]

    def _constant(self, tensor: Any) -> None:
        """Take a real tensor for a constant: numbers that stand in the code."""
        with _disable_current_modes():
            whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
            if whole.numel() > 1 << 16:
                raise NotRecordedError(f"a tensor of {whole.numel()} Python numbers, in {place()}")
            plain = whole.double() if tensor.is_floating_point() else whole.to(torch.int64)
            values = tuple(plain.tolist())
        self.add(
            tensor,
            Storage(_name(tensor.dtype), whole.numel(), "constant", "constant", values, tuple(tensor.shape)),
        )

    def base(self, number: int) -> Any:
        """Return all of a storage as one tensor."""
        storage = self.recording.storages[number]
        some = next(
            each
            for each in reversed(self._alive)
            if isinstance(each, FakeTensor) and self._numbers.get(each.untyped_storage()._cdata) == number
        )
        with self.fake:
            return some.as_strided((storage.elements,), (1,), 0)

    def view(self, tensor: Any) -> View:
        """Return where a tensor's elements are."""
        number = self.number(tensor)
        dtype = _name(tensor.dtype)
        held = self.recording.storages[number].dtype
        if dtype != held:
            raise NotRecordedError(f"elements of {held} reinterpreted as {dtype}, in {place()}")
        return View(number, dtype, tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())

    # -- operations
    def __torch_dispatch__(
        self,
        function: Any,
        types: Any,
        arguments: Sequence[Any] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        """Record an operation, unless it only looks at a tensor in another way."""
        try:
            return self._dispatched(function, arguments, options)
        except Exception as reason:
            self.note_refused(reason)
            raise

    def note_refused(self, reason: Exception) -> None:
        """Note that something can't be recorded: host code may take it for a failure, and go another way."""
        if self._refused is None and isinstance(reason, NotRecordedError | torch.AcceleratorError):
            self._refused = reason

    def refuse(self, what: str) -> NoReturn:
        """Refuse what host code does, also where it catches that.

        Raises
        ------
        NotRecordedError
            Always.
        """
        reason = NotRecordedError(f"{what}, in {place()}")
        self.note_refused(reason)
        raise reason

    def returned(self) -> None:
        """Note that the module has returned: what uses its results is in the default stream.

        Raises
        ------
        NotRecordedError
            If that does not wait for all work.
        """
        if not self.streams.given(DEFAULT):
            raise NotRecordedError("the module returns before the work in its own stream has finished")

    def require_recorded(self) -> None:
        """Raise what host code was told that can't be recorded, though it went on.

        Raises
        ------
        NotRecordedError
            If there was something.
        """
        if self._refused is not None:
            raise NotRecordedError(f"{str(self._refused).splitlines()[0]}; the host goes on without it")

    def _dispatched(self, function: Any, arguments: Sequence[Any], options: Mapping[str, Any] | None) -> Any:
        options = dict(options or {})
        name = function._schema.name.partition("::")[2]
        if function.namespace == "prims":
            name = PRIMS.get(name, f"prims.{name}")
        elif function.namespace not in ("aten", "prim"):
            raise NotRecordedError(f"{function} is not modelled, in {place()}")
        overload = function._overloadname
        try:
            if function.namespace == "prim" or name in SILENT:
                return self._on_fakes(function, arguments, options)
            if name in READS:
                raise NotRecordedError(f"the host reads data back ({name}) in {place()}")
            if name in ("lift_fresh", "lift", "detach", "alias") and not isinstance(arguments[0], FakeTensor):
                return self._lifted(arguments[0])
            if "out" in options or overload.endswith("out"):
                return self._into(name, overload, arguments, options)
            schema = function._schema.arguments
            written = [each for each in schema if each.alias_info and each.alias_info.is_write]
            if written and name.endswith("_") and not name.startswith("_"):
                return self._in_place(name, overload, arguments, options)
            if name in ("native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit"):
                return self._batch_norm(arguments, len(function._schema.returns))
            if name not in self.known and name not in (*EMPTY, *ZEROS, *ONES):
                return self._unknown(function, name, arguments, options)
            if written:
                raise NotRecordedError(f"{name}, which changes its argument, in {place()}")
            return self._recorded(function, name, arguments, options)
        except DataDependentOutputException as reason:
            raise NotRecordedError(f"the host reads data back ({name}) in {place()}") from reason

    def _unknown(self, function: Any, name: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Record an operation that is not known: another look at a tensor, or several operations."""
        if self._is_composite(function):
            with self:
                return function.decompose(*arguments, **options)
        if not function._schema.is_mutable and self._is_view(function):
            made = self._on_fakes(function, arguments, options)
            self._require_known(made, name)
            return made
        return self._taken_apart(function, arguments, options)

    @staticmethod
    def _is_composite(function: Any) -> bool:
        """Tell whether PyTorch itself writes an operation as others, on every device."""
        composite = "CompositeImplicitAutograd"
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), composite))

    @staticmethod
    def _is_view(function: Any) -> bool:
        returns = function._schema.returns
        return bool(returns) and any(each.alias_info is not None for each in returns)

    def _on_fakes(self, function: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        with self.fake:
            return function(*arguments, **options)

    def _require_known(self, made: Any, name: str) -> None:
        for tensor in _tensors(made):
            if tensor.untyped_storage()._cdata not in self._numbers:
                raise NotRecordedError(f"{name} returns a tensor that was not recorded, in {place()}")

    def _lifted(self, tensor: Any) -> Any:
        """Return a tensor without data in place of a constant."""
        number = self.number(tensor)
        with self.fake:
            made = torch.empty_strided(
                tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device
            )
        self._numbers[made.untyped_storage()._cdata] = number
        self._alive.append(made)
        return made

    def _taken_apart(self, function: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Record an operation as those that PyTorch says it is made of."""
        with self:
            if function in decomposition_table:
                return decomposition_table[function](*arguments, **options)
            made = function.decompose(*arguments, **options)
        if made is NotImplemented:
            raise NotRecordedError(f"{function} is not modelled, in {place()}")
        return made

    def _in_place(
        self, name: str, overload: str, arguments: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        """Record an operation that changes its first argument."""
        target, *others = arguments
        if name == "copy_":
            value = others[0]
        elif name in ("zero_", "fill_"):
            value = 0 if name == "zero_" else others[0]
        elif name in ("requires_grad_", "set_", "resize_"):
            raise NotRecordedError(f"{name} in {place()}")
        else:
            packet = getattr(torch.ops.aten, name[:-1], None)
            if packet is None or overload not in packet.overloads():
                raise NotRecordedError(f"{name} in {place()}")
            with self:
                value = getattr(packet, overload)(*arguments, **options)
        self.write(target, value)
        return target

    def _into(self, name: str, overload: str, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
        """Record an operation that writes what it is given for its result."""
        target = options.pop("out", None)
        packet = getattr(torch.ops.aten, name)
        plain = {"out": "default", "Tensor_out": "Tensor", "Scalar_out": "Scalar"}.get(overload)
        plain = plain or overload.removesuffix("_out")
        if target is None or plain not in packet.overloads():
            raise NotRecordedError(f"{name}.{overload} in {place()}")
        with self:
            value = getattr(packet, plain)(*arguments, **options)
        if tuple(value.shape) != tuple(target.shape):
            raise NotRecordedError(f"{name} with out= of another shape, in {place()}")
        self.write(target, value)
        return target

    def write(self, target: Any, value: Any, stream: int = DEFAULT) -> None:
        """Record that a tensor's elements become those of another one, or a number."""
        given = self.view(value) if isinstance(value, torch.Tensor) else value
        self._append(Operation("copy", (given,), {}, (self.view(target),), place()), stream)

    def _batch_norm(self, arguments: Sequence[Any], count: int) -> Any:
        """Record batch normalisation; running statistics are left as they are, as nothing compares them."""
        values, weight, bias, mean, variance, training, _, epsilon, *_ = arguments
        axes = [axis for axis in range(values.dim()) if axis != 1]
        shape = [values.shape[1] if axis == 1 else 1 for axis in range(values.dim())]
        with self:
            if training:
                if mean is not None:
                    self.recording.notes.append("running statistics of batch norms are not compared")
                mean = values.mean(axes)
                variance = values.var(axes, correction=0)
            mean, variance = mean.reshape(shape), variance.reshape(shape)
            made = (values - mean) * torch.rsqrt(variance + epsilon)
            if weight is not None:
                made = made * weight.reshape(shape)
            if bias is not None:
                made = made + bias.reshape(shape)
            empty = values.new_empty(0)
            return (made, *[empty] * (count - 1))

    def _recorded(
        self, function: Any, name: str, arguments: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        arguments, options = _completed(function, arguments, options)
        made = self._on_fakes(function, arguments, options)
        results = list(made) if isinstance(made, tuple | list) else [made]
        new = [result for result in results if isinstance(result, torch.Tensor)]
        keys = {tensor.untyped_storage()._cdata for tensor in _tensors((arguments, options))}
        if any(each.untyped_storage()._cdata in keys for each in new):
            return made  # the same elements
        fill = self._fill(name, arguments)
        for each in new:
            origin = "empty" if name in EMPTY else "constant" if fill is not None else "result"
            elements = each.untyped_storage().nbytes() // each.element_size()
            storage = Storage(_name(each.dtype), elements, origin, name, fill, shape_in_memory(each))
            self.held.note(self.add, each, storage)
        if name in EMPTY or fill is not None:
            return made
        written = tuple(self.view(result) if isinstance(result, torch.Tensor) else None for result in results)
        kept = {key: value for key, value in options.items() if key not in _OF_TENSORS}
        given = tuple(self._plain(argument) for argument in arguments)
        self._append(Operation(name, given, {k: self._plain(v) for k, v in kept.items()}, written, place()))
        return made

    @staticmethod
    def _fill(name: str, arguments: Sequence[Any]) -> tuple[Any, ...] | None:
        if name in ZEROS:
            return (0,)
        if name in ONES:
            return (1,)
        if name in ("full", "full_like", "new_full"):
            value = arguments[1] if name != "new_full" else arguments[2]
            return (value,) if isinstance(value, int | float) else None
        return None

    def _append(self, step: Operation | Launch, stream: int = DEFAULT) -> None:
        if not self.streams.given(stream):
            what = step.entry if isinstance(step, Launch) else step.name
            self.refuse(f"{what} does not wait for the work in another stream")
        self.recording.steps.append(step)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.view(value)
        if isinstance(value, tuple | list):
            return tuple(self._plain(each) for each in value)
        if isinstance(value, torch.dtype):
            return _name(value)
        if isinstance(value, torch.device | torch.layout | torch.memory_format):
            return None
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise NotRecordedError(f"{value!r} as an argument, in {place()}")

    # -- launches
    def address(self, tensor: Any) -> int:
        """Return the made-up address of a tensor's first element."""
        if not tensor.numel():
            return 0
        at = tensor.storage_offset() * tensor.element_size()
        return ADDRESS + (self.number(tensor) + 1) * SPAN + int(at)

    def pointer(self, address: int) -> Pointer | None:
        """Return what a number is as an address, if it is in a storage or at its end."""
        number, at = divmod(address - ADDRESS, SPAN)
        if not 0 < number <= len(self.recording.storages):
            return None
        if number - 1 in self.held.freed:
            self.refuse("memory is used after cudaFree")
        if self.held.is_dropped(number - 1):
            self.refuse("memory of a tensor is used after the host has dropped it")
        return Pointer(number - 1, at)

    def launch(
        self,
        entry: str,
        ptx: str,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        passed: Sequence[Passed],
        stream: int = DEFAULT,
    ) -> None:
        """Record a launch."""
        x, y, z = (*grid, 1, 1, 1)[:3]
        bx, by, bz = (*block, 1, 1, 1)[:3]
        storages = enumerate(self.recording.storages)
        held = tuple(number for number, each in storages if each.variable and each.variable[0] == ptx)
        launch = Launch(entry, ptx, (x, y, z), (bx, by, bz), shared, tuple(passed), place(), held)
        self._append(launch, stream)


def _completed(
    function: Any, arguments: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Return arguments with those that nobody gave: the defaults that PyTorch has."""
    every, named = list(arguments), dict(options)
    for place_, each in enumerate(function._schema.arguments):
        if place_ < len(every) or each.name in named or not each.has_default_value():
            continue
        if each.kwarg_only:
            named[each.name] = each.default_value
        elif place_ == len(every):
            every.append(each.default_value)
    return every, named


_OF_TENSORS = (
    "output_dtype", "device", "layout", "pin_memory", "memory_format", "non_blocking", "generator",
)  # fmt: skip


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _tensors(each)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


_current: list[Recorder] = []


def current() -> Recorder:
    """Return the recorder of what runs now.

    Raises
    ------
    NotRecordedError
        If nothing is recorded now, as while modules are imported and constructed.
    """
    if not _current:
        raise NotRecordedError(f"a kernel is launched before the module is called, in {place()}")
    return _current[-1]


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Record what happens inside."""
    _current.append(recorder)
    try:
        with recorder.fake, recorder, Unguarded(recorder.note_refused, recorder.write), torch.no_grad():
            yield
    finally:
        _current.pop()
