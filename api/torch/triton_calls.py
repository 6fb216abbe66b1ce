"""Launches of Triton's kernels, taken before they reach a GPU: compiled to PTX, and recorded."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from .devices import device_for
from .recorder import Recorder, current, place
from .recording import NotRecordedError, Passed, Word

_seen: list[int] = []


def configurations() -> int:
    """Return how many configurations an autotuned kernel chooses from; 1 where none is."""
    return max(_seen, default=1)


def intercept(folder: Path, target: str, configuration: int) -> None:
    """Record launches in place of making them; of several configurations take one by its number."""
    try:
        from triton.runtime.autotuner import Autotuner
        from triton.runtime.jit import JITFunction
    except ImportError:
        return

    def run(self: Any, *arguments: Any, grid: Any, warmup: bool = False, **options: Any) -> None:
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
        return self.fn.run(*arguments, **options, **chosen.all_kwargs())

    JITFunction.run = run
    Autotuner.run = tuned


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
    text = built.asm["ptx"].replace(built.metadata.name, name)
    path.write_text(text, encoding="utf-8")
    passed = [_passed(recorder, given[key], kind) for key, kind in signature.items() if kind != "constexpr"]
    passed += [Passed(8, ((0, Word(8, 0)),))] * 2  # the scratch pointers that Triton appends
    recorder.launch(name, str(path), extents, (32 * built.metadata.num_warps,), built.metadata.shared, passed)


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
