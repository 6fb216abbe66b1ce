"""The process that runs host code: a reference and a candidate, recorded each in a process of its own.

Its `main` reads names of requests, one a line, and writes what it recorded
into each request's folder; PyTorch is imported once for all of them. Nothing of it is trusted: the verifier
reads files of JSON and arrays, and executes none of it.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import gc
import importlib
import inspect
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch

from . import deferred_dynamo, extension_calls, own_reference
from .devices import STATIC, device_for
from .operations import OPERATIONS
from .own_numbers import COUNTEREXAMPLE, OF_ONE_SIGN, REPEATED
from .recorder import Recorder, recording
from .recording import NotRecordedError, View, to_json
from .repeated_calls import first_call
from .sizes import BEYOND, one_by_one, work
from .weights import copied, matched, replace_weights, weights, whole

MODEL, CANDIDATE = ("Model", "Reference"), ("ModelNew", "Model")
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000


def limited(seconds: int, gigabytes: float) -> list[str]:
    """Limit this process, and cut it off from the network; returns what could not be done."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    most = int(gigabytes * (1 << 30))
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    flags = _NEW_NETWORK if os.getuid() == 0 else _NEW_USER | _NEW_NETWORK
    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        return ["host code could reach the network: no network namespace can be made here"]
    return []


def loaded(path: str, constants: Mapping[str, Any], name: str) -> ModuleType:
    """Execute a file, with other numbers for integers that it assigns at its top."""
    tree = one_by_one(ast.parse(Path(path).read_text(encoding="utf-8"), path))
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in constants:
            value = constants[target.id]
            text = repr(tuple(value) if isinstance(value, list) else value)
            node.value = ast.copy_location(ast.parse(text, mode="eval").body, node.value)
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(tree, path, "exec"), module.__dict__)
    return module


def named(module: ModuleType, names: Sequence[str]) -> Any:
    """Return the first of some names that a module has."""
    for name in names:
        if hasattr(module, name):
            return getattr(module, name)
    raise NotRecordedError(f"{module.__file__} has no {' and no '.join(names)}")


@contextlib.contextmanager
def as_if_on_a_gpu() -> Iterator[None]:
    """Let host code find a GPU, of which tensors are made on the CPU."""

    class Redirected(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, arguments: Any = (), options: Any = None
        ) -> Any:
            options = dict(options or {})
            if "cuda" in str(options.get("device", "")):
                options["device"] = "cpu"
            if function is torch.Tensor.cuda:
                return arguments[0]
            arguments = tuple("cpu" if _is_gpu(argument) else argument for argument in arguments)
            return function(*arguments, **options)

    with Redirected():
        yield


def _is_gpu(value: Any) -> bool:
    return isinstance(value, str | torch.device) and str(value).startswith("cuda")


def pretend(target: str) -> None:
    """Answer questions about the device as one of a target would."""
    device = device_for(target)
    major, minor = divmod(device.capability, 10)
    facts = SimpleNamespace(
        multi_processor_count=device.multiprocessors, name="mmaproof", major=major, minor=minor,
        total_memory=80 << 30, warp_size=32, max_threads_per_multi_processor=device.threads,
        shared_memory_per_block=STATIC, shared_memory_per_block_optin=device.shared,
        shared_memory_per_multiprocessor=device.shared_of_all,
    )  # fmt: skip
    torch.cuda.get_device_capability = lambda *_: (major, minor)
    torch.cuda.get_device_properties = lambda *_: facts


def _refused_class(name: str) -> type:
    """Return a class of which nothing can be made."""

    def refused(*_: Any, **__: Any) -> None:
        extension_calls.refused(name)

    return type(name, (), {"__new__": refused})


def prepare() -> None:
    """Let PyTorch find a device, for all requests."""
    stream = SimpleNamespace(cuda_stream=0, synchronize=lambda: None)
    given: dict[str, Any] = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
        "synchronize": lambda *_: extension_calls.waited_for_all(), "current_stream": lambda *_: stream,
        "_lazy_init": lambda: None, "empty_cache": lambda: None, "get_device_name": lambda *_: "mmaproof",
    }  # fmt: skip
    given |= {
        "_exchange_device": lambda _: 0, "_maybe_exchange_device": lambda _: 0, "set_device": lambda *_: None,
        "default_stream": lambda *_: stream, "mem_get_info": lambda *_: (80 << 30, 80 << 30),
        "Stream": _refused_class("torch.cuda.Stream"), "CUDAGraph": _refused_class("torch.cuda.CUDAGraph"),
    }  # fmt: skip
    for name, value in given.items():
        setattr(torch.cuda, name, value)
    import torch._subclasses.fake_tensor as fakes

    fakes.init_gpu_context = lambda *_: None
    torch.backends.cudnn.enabled = False  # PyTorch's own operations in place of a library's
    for backend in ("flash", "mem_efficient", "cudnn"):
        getattr(torch.backends.cuda, f"enable_{backend}_sdp")(False)


def constructed(maker: Any, given: Any) -> Any:
    """Return a module with the weights that one seed gives it; a function as it is."""
    torch.manual_seed(0)
    if not inspect.isclass(maker) and not given:
        return maker
    return maker(**given) if isinstance(given, Mapping) else maker(*given)


def recorded(
    model: Any,
    inputs: Sequence[Any],
    names: Sequence[str],
    matches: Mapping[str, str],
    *,
    again: bool = False,
) -> Recorder:
    """Call a module with tensors that have no data, and record what it does.

    With `again` it is called twice, and refused if it does something else the second time.
    """
    recorder = Recorder(OPERATIONS)
    for name, each in weights(model).items():
        if each.is_floating_point() and not bool(torch.isfinite(each).all()):
            raise NotRecordedError(f"{name} has infinities or NaNs, but weights must be finite")
    made = {name: recorder.tensor(each, "parameter", matches[name]) for name, each in weights(model).items()}
    parameters = {name for name, _ in model.named_parameters()} if made else set()
    replace_weights(
        model,
        {
            name: torch.nn.Parameter(each, requires_grad=False) if name in parameters else each
            for name, each in made.items()
        },
    )
    given = [
        recorder.tensor(each, "input", name) if isinstance(each, torch.Tensor) else each
        for each, name in zip(inputs, names, strict=True)
    ]
    recorder.recording.inputs = [recorder.view(each) for each in given if isinstance(each, torch.Tensor)]
    with recording(recorder):
        result = model(*given)
        recorder.recording.results = _views(recorder, result)
        if again:
            steps, storages = len(recorder.recording.steps), len(recorder.recording.storages)
            second = _views(recorder, model(*given))
    recorder.require_recorded()
    if again:
        recorder.recording = first_call(recorder.recording, steps, storages, second)
    return recorder


def _views(recorder: Recorder, result: Any) -> list[View]:
    recorder.returned()
    results = list(result) if isinstance(result, tuple | list) else [result]
    if not results or not all(isinstance(each, torch.Tensor) for each in results):
        recorder.require_recorded()
        raise NotRecordedError("the module must return tensors only")
    return [recorder.view(each) for each in results]


def input_names(model: Any, inputs: Sequence[Any]) -> list[str]:
    """Return the names of a call's positional parameters."""
    function = model.forward if isinstance(model, torch.nn.Module) else model
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in kinds
    ]
    names += [f"input{place}" for place in range(len(names), len(inputs))]
    return names[: len(inputs)]


def in_mode(model: Any, mode: str | None) -> Any:
    """Return a module in training or evaluation mode; as it was made where nothing is said."""
    if mode and isinstance(model, torch.nn.Module):
        model.train(mode == "train")
    return model


def example(module: ModuleType, *, unfilled: bool = False) -> tuple[Any, list[Any], Any]:
    """Return a problem's model with weights, inputs, perhaps unfilled, and what it is constructed with."""
    given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    with own_reference.quickly_drawn() if unfilled else contextlib.nullcontext():
        model = constructed(named(module, MODEL), given)
    torch.manual_seed(1)
    with own_reference.unfilled() if unfilled else contextlib.nullcontext():
        return model, list(module.get_inputs()), given


def of_reference(request: Mapping[str, Any]) -> dict[str, Any]:
    """Record a reference at the largest sizes that are no more work than the request allows."""
    intercept({**request, "configuration": 0})  # a file may define both modules
    chosen, failures = None, []
    for place, sizes in enumerate(request["ladder"]):
        try:
            module = loaded(request["problem"], sizes, "mmaproof_problem")
            model, inputs, _ = example(module)
            model = in_mode(model, request["mode"])
            own = weights(model)
            found = recorded(model, inputs, input_names(model, inputs), {name: name for name in own})
        except NotRecordedError:
            raise
        except Exception as reason:  # sizes that do not go together
            failures.append(f"{type(reason).__name__}: {reason}")
            continue
        if chosen is not None and work(found.recording) > request["work"]:
            break
        chosen = place, found.recording
    if chosen is None:
        raise NotRecordedError(f"the reference can't be called at any of the sizes tried: {failures[0]}")
    place, kept = chosen
    if work(kept) <= BEYOND:
        _run_on_numbers(request, request["ladder"][place])
    return {"recording": to_json(kept), "chosen": place, "work": work(kept)}


def _run_on_numbers(request: Mapping[str, Any], sizes: Mapping[str, Any]) -> None:
    """Run the reference as PyTorch does, and keep what it was given and what it gave."""
    module = loaded(request["problem"], sizes, "mmaproof_problem")
    model, inputs, _ = example(module)
    model = in_mode(model, request["mode"])
    names = input_names(model, inputs)
    tensors = [
        (name, each) for name, each in zip(names, inputs, strict=True) if isinstance(each, torch.Tensor)
    ]
    kept = {f"input {name}": each for name, each in tensors}
    kept |= {f"parameter {name}": each for name, each in weights(model).items()}
    numbers = {name: _as_numbers(whole(each)) for name, each in kept.items()}
    with torch.no_grad():
        result = model(*inputs)
    for place, each in enumerate(result if isinstance(result, tuple | list) else [result]):
        numbers[f"result {place}"] = _as_numbers(each)
    np.savez(Path(request["folder"]) / "numbers.npz", **numbers)


def _as_numbers(tensor: Any) -> Any:
    plain = tensor.detach().cpu()
    return (plain.double() if plain.is_floating_point() else plain).clone().numpy()


def intercept(request: Mapping[str, Any]) -> None:
    """Take extensions and launches of this process, in place of compiling them for a device."""
    from torch.utils import cpp_extension

    from . import extensions, triton_calls

    folder = Path(request["folder"])
    pretend(request["target"])
    tools = extensions.Toolchain(folder, Path(request["kept"]), request["target"])
    cpp_extension.load_inline, cpp_extension.load = tools.load_inline, tools.load
    triton_calls.intercept(folder, request["target"], request["configuration"])


def of_candidate(request: Mapping[str, Any]) -> dict[str, Any]:
    """Record a candidate."""
    from . import triton_calls

    intercept(request)
    module = loaded(request["problem"], request["sizes"], "mmaproof_problem")
    unfilled = request.get("unfilled", False)
    reference, inputs, given = example(module, unfilled=unfilled)
    known = {name: copied(each) for name, each in weights(reference).items()}
    names = input_names(reference, inputs)
    drawn = own_reference.quickly_drawn() if unfilled else contextlib.nullcontext()
    with as_if_on_a_gpu(), drawn:
        solution = loaded(request["solution"], {}, "mmaproof_solution")
        maker = named(solution, CANDIDATE)
        model = in_mode(constructed(maker, given), request["mode"])
    found = recorded(model, inputs, names, matched(weights(model), known), again=True)
    if request.get("own") and not unfilled:
        own_reference.require_quick(work(found.recording))
    return {"recording": to_json(found.recording), "configurations": triton_calls.configurations()}


def of_own_sizes(request: Mapping[str, Any]) -> dict[str, Any]:
    """Choose sizes at which a reference is run on numbers."""
    intercept({**request, "configuration": 0})

    def at(sizes: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        module = loaded(request["problem"], sizes, "mmaproof_problem")
        model, inputs, _ = example(module)
        return in_mode(model, request["mode"]), inputs

    most = own_reference.FEWEST_BYTES if request["all_blocks"] else own_reference.FEW_BYTES
    place, operations = own_reference.affordable([partial(at, sizes) for sizes in request["ladder"]], most)
    return {"chosen": place, "operations": operations}


def of_own_reference(request: Mapping[str, Any]) -> dict[str, Any]:
    """Run a reference on numbers at the problem's own sizes."""
    intercept({**request, "configuration": 0})
    module = loaded(request["problem"], request["sizes"], "mmaproof_problem")
    model, inputs, _ = example(module)
    model = in_mode(model, request["mode"])
    torch.manual_seed(2)
    again = list(module.get_inputs())
    names, folder = input_names(model, inputs), Path(request["folder"]) / "own"
    held = weights(model)
    if tuple(request["draws"]) == REPEATED:
        with np.load(folder.parent / COUNTEREXAMPLE) as small:
            given = own_reference.repeated(dict(small), names, inputs, held)
    else:
        is_of_one_sign = tuple(request["draws"]) == OF_ONE_SIGN
        draws = own_reference.of_one_sign if is_of_one_sign else own_reference.of_sizes
        given = draws([inputs, again], held)
    return own_reference.kept(model, names, given, held, folder, request["operations"])


def answered(
    ask: Callable[[Mapping[str, Any]], dict[str, Any]], request: Mapping[str, Any], name: str
) -> None:
    """Do one thing in a process of its own, and write what came of it."""
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        return
    answer: dict[str, Any]
    open_points: list[str] = []
    try:
        torch.set_num_threads(1)
        open_points = limited(request["seconds"], request["gigabytes"])
        answer = ask(request)
    except NotRecordedError as reason:
        answer = {"refused": str(reason)}
    except BaseException as reason:  # whatever the code of others raises
        files = (request["problem"], request["solution"])
        frames = [each for each in traceback.extract_tb(reason.__traceback__) if each.filename in files]
        where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        said = str(reason).splitlines()[0] if str(reason) else ""
        answer = {"failed": f"{type(reason).__name__}: {said}{where}"}
    answer["open"] = open_points
    answer["seconds"] = time.process_time()
    (Path(request["folder"]) / f"{name}.json").write_text(json.dumps(answer), encoding="utf-8")
    os._exit(0)


def served(path: str) -> None:
    """Record what a request names."""
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    if request["own"]:
        served_own(request)
        return
    answered(of_reference, request, "reference")
    answer = json.loads((Path(request["folder"]) / "reference.json").read_text(encoding="utf-8"))
    if "chosen" not in answer:
        return
    request["sizes"] = request["ladder"][answer["chosen"]]
    answered(of_candidate, {**request, "configuration": 0}, "candidate0")
    first = json.loads((Path(request["folder"]) / "candidate0.json").read_text(encoding="utf-8"))
    for number in range(1, min(first.get("configurations", 1), request["most_configurations"])):
        answered(of_candidate, {**request, "configuration": number}, f"candidate{number}")


def served_own(request: dict[str, Any]) -> None:
    """Record a candidate at the problem's own sizes, and run the reference there on numbers."""
    answered(of_own_sizes, request, "own_sizes")
    answer = json.loads((Path(request["folder"]) / "own_sizes.json").read_text(encoding="utf-8"))
    if answer.get("chosen") != 0 and not request["all_blocks"]:
        largest = {**request, "sizes": request["ladder"][0], "unfilled": True}
        answered(of_candidate, {**largest, "configuration": 0}, "own_memory")
    if "chosen" not in answer:
        return
    request |= {"sizes": request["ladder"][answer["chosen"]], "operations": answer["operations"]}
    answered(of_candidate, {**request, "configuration": 0}, "own_candidate")
    first = json.loads((Path(request["folder"]) / "own_candidate.json").read_text(encoding="utf-8"))
    if "recording" in first:
        answered(of_own_reference, request, "own_reference")


OF_RECORDING = ("torch.fx.experimental.symbolic_shapes", "torch.distributed.tensor", "triton")
"""What processes that record modules import, most of them."""


def warm() -> None:
    """Import what every request needs, once."""
    deferred_dynamo.defer()
    from torch.utils import cpp_extension  # noqa: F401

    from . import extensions  # noqa: F401

    Recorder(OPERATIONS)  # the first tensor without data takes long
    for name in OF_RECORDING:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def main() -> None:
    """Do one request after the other, each in a process of its own."""
    warm()
    prepare()
    gc.freeze()  # else every process that is forked goes through what PyTorch has made, and copies it
    gc.enable()
    for line in sys.stdin:
        process = os.fork()
        if not process:
            said = (Path(line.strip()).parent / "said.txt").open("wb")
            for stream in (1, 2):
                os.dup2(said.fileno(), stream)
            try:
                served(line.strip())
            finally:
                os._exit(0)
        os.waitpid(process, 0)
        print("done", flush=True)


if __name__ == "__main__":
    main()
