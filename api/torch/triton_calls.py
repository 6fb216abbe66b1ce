"""Launches of Triton's kernels, taken before they reach a GPU: compiled to PTX, and recorded."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from .devices import device_for
from .ptx_modules import with_name
from .recorder import Recorder, current, place
from .recording import NotRecordedError, Operation, Passed, Word

_seen: list[int] = []

_tuned: list[frozenset[str]] = []
"""Of autotuned kernels that are being launched: which arguments are as they were before every trial."""


def configurations() -> int:
    """Return how many configurations an autotuned kernel chooses from; 1 where none is."""
    return max(_seen, default=1)


def intercept(folder: Path, target: str, configuration: int) -> None:
    """Record launches in place of making them; of several configurations take one by its number."""
    try:
        import triton
        from triton.runtime.autotuner import Autotuner
        from triton.runtime.jit import JITFunction
    except ImportError:
        return

    def run(self: Any, *arguments: Any, grid: Any, warmup: bool = False, **options: Any) -> None:
        if warmup:
            current().refuse(f"warmup of {self.__name__} is not recorded")
        if getattr(self, "pre_run_hooks", ()):
            current().refuse(f"a hook that runs before {self.__name__} is not recorded")
        _launch(self, folder, target, arguments, grid, options)

    def tuned(self: Any, *arguments: Any, **options: Any) -> Any:
        configs = list(self.configs)
        names = dict(zip(self.arg_names, arguments, strict=False))
        if self.early_config_prune is not None or self.perf_model is not None:
            configs = self.prune_configs({**names, **options})
        _seen.append(len(configs))
        chosen = configs[min(configuration, len(configs) - 1)]
        if chosen.pre_hook is not None:
            raise NotRecordedError(f"a configuration with a pre_hook, in {place()}")
        if getattr(self, "user_defined_pre_hook", False):
            current().refuse("a pre_hook of an autotuner is not recorded")
        if len(configs) == 1:
            return self.fn.run(*arguments, **options, **chosen.all_kwargs())
        _tuned.append(frozenset((*self.reset_to_zero, *self.restore_value)))
        try:
            return self.fn.run(*arguments, **options, **chosen.all_kwargs())
        finally:
            _tuned.pop()

    JITFunction.run = run
    Autotuner.run = tuned
    triton.runtime.driver.set_active(_Driver(target))


class _Driver:
    """What host code asks Triton's driver, answered for a device of a target."""

    def __init__(self, target: str) -> None:
        from triton.backends.compiler import GPUTarget

        device = device_for(target)
        self._target = GPUTarget("cuda", int(target.removeprefix("sm_")), 32)
        properties = {
            "max_shared_mem": device.shared, "multiprocessor_count": device.multiprocessors, "warpSize": 32,
            "max_num_regs": 65536,
        }  # fmt: skip
        self.utils = SimpleNamespace(get_device_properties=lambda _=0: properties)

    def get_current_device(self) -> int:
        """Return the number of the device."""
        return 0

    def get_current_stream(self, device: int = 0) -> int:
        """Return the default stream."""
        return 0

    def get_current_target(self) -> Any:
        """Return what kernels are compiled for."""
        return self._target

    def get_active_torch_device(self) -> Any:
        """Return the device as PyTorch has it."""
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """Return PyTorch's part for the device."""
        return torch.cuda


def _launch(
    kernel: Any, folder: Path, target: str, arguments: Sequence[Any], grid: Any, options: Mapping[str, Any]
) -> None:
    """Compile a kernel for what it is called with, as Triton specialises it, and record the launch."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    recorder = current()
    settings = {key: value for key, value in options.items() if key not in kernel.arg_names}
    bound = kernel.signature.bind(*arguments, **{k: v for k, v in options.items() if k in kernel.arg_names})
    bound.apply_defaults()
    given = dict(bound.arguments)
    extents = grid(given) if callable(grid) else grid
    extents = (extents,) if isinstance(extents, int) else tuple(extents)
    signature: dict[str, str] = {}
    constants: dict[Any, Any] = {}
    attributes: dict[tuple[int, ...], list[list[Any]]] = {}
    for number, parameter in enumerate(kernel.params):
        value = given[parameter.name]
        kind = _type(parameter, value)
        signature[parameter.name] = kind
        if kind == "constexpr":
            constants[parameter.name] = value
        elif not parameter.do_not_specialize and _is_divisible(recorder, value):
            attributes[(number,)] = [["tt.divisibility", 16]]
    for unused in ("num_ctas", "stream", "maxnreg"):
        if settings.get(unused) not in (None, 1):
            raise NotRecordedError(f"{unused} = {settings[unused]} of {kernel.__name__}, in {place()}")
    source = ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
    kept = {key: settings[key] for key in ("num_warps", "num_stages") if key in settings}
    try:
        built = triton.compile(
            source, target=GPUTarget("cuda", int(target.removeprefix("sm_")), 32), options=kept
        )
    except Exception as reason:  # Triton raises what its passes raise
        said = " ".join(str(reason).split()) or type(reason).__name__
        raise NotRecordedError(f"Triton does not compile {kernel.__name__}: {said[:300]}") from reason
    if built.metadata.shared > (room := device_for(target).shared):
        what = f"{kernel.__name__} with {built.metadata.shared} bytes of shared memory, of {room}"
        raise NotRecordedError(f"{what} that a block of {target} can have, in {place()}")
    digest = hashlib.sha256(built.asm["ptx"].encode()).hexdigest()[:6]
    name = f"{kernel.__name__}_{digest}"
    path = folder / f"triton_{name}.ptx"
    path.write_text(with_name(built.asm["ptx"], built.metadata.name, name), encoding="utf-8")
    passed = [_passed(recorder, given[key], kind) for key, kind in signature.items() if kind != "constexpr"]
    passed += [Passed(8, ((0, Word(8, 0)),))] * 2  # the scratch pointers that Triton appends
    block = (32 * built.metadata.num_warps,)
    for _ in range(2 if _tuned and _holds_something(recorder, given, _tuned[-1]) else 1):
        recorder.launch(name, str(path), extents, block, built.metadata.shared, passed)


def _holds_something(recorder: Recorder, given: Mapping[str, Any], kept: frozenset[str]) -> bool:
    """Tell whether trials of configurations find memory that was written before, which they may change.

    The launch that counts comes after them, so that what it adds up would be there already.
    """
    tensors = [each for key, each in given.items() if isinstance(each, torch.Tensor) and key not in kept]
    held = {recorder.number(tensor) for tensor in tensors if tensor.numel()}
    storages = recorder.recording.storages
    written = {number for number in held if storages[number].origin in ("constant", "result")}
    for step in recorder.recording.steps:
        if isinstance(step, Operation):
            written |= held & {result.storage for result in step.results if result is not None}
        else:
            written |= held & step.storages
    return any(storages[number].origin not in ("input", "parameter") for number in written)


def _type(parameter: Any, value: Any) -> str:
    """Return the type of an argument, as Triton has it."""
    if parameter.is_constexpr or value is None:
        return "constexpr"
    if isinstance(value, torch.Tensor):
        return f"*{_TYPES[str(value.dtype).removeprefix('torch.')]}"
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        if value == 1 and not parameter.do_not_specialize:
            return "constexpr"
        return "i32" if -(2**31) <= value < 2**31 else "i64" if value < 2**63 else "u64"
    if isinstance(value, float):
        return "fp32"
    raise NotRecordedError(f"{parameter.name} = {value!r} as an argument of a kernel, in {place()}")


_TYPES = {
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "int8": "i8", "uint8": "u8",
    "int16": "i16", "int32": "i32", "int64": "i64", "bool": "i1",
}  # fmt: skip


def _is_divisible(recorder: Recorder, value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return recorder.address(value) % 16 == 0
    return isinstance(value, int) and not isinstance(value, bool) and value % 16 == 0


def _passed(recorder: Recorder, value: Any, kind: str) -> Passed:
    """Return an argument as it is passed."""
    if isinstance(value, torch.Tensor):
        if value.device.type != "cuda":
            raise NotRecordedError(f"a kernel is passed a tensor on the CPU, in {place()}")
        found = recorder.pointer(recorder.address(value)) if value.numel() else None
        return Passed(8, ((0, found or Word(8, 0)),))
    if isinstance(value, float):
        return Passed(4, ((0, Word(4, int.from_bytes(struct.pack("<f", value), "little"))),))
    size = {"i1": 1, "i32": 4}.get(kind, 8)
    return Passed(size, ((0, Word(size, int(value) & ((1 << 8 * size) - 1))),))
