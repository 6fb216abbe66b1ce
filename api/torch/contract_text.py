"""A recording as a contract: its storages are parameters, its steps are launches and steps of the host."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from .data_conditions import data_conditions
from .programs import HEAD, needed, reference_text, step_text, views_in
from .ptx_modules import merged
from .recording import (
    Launch,
    NotRecordedError,
    Operation,
    Pointer,
    Recording,
    Storage,
    View,
    Word,
    identifiers,
    row_major,
)

FORMATS = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int8": "s8", "uint8": "u8",
    "int16": "s16", "int32": "s32", "int64": "s64", "bool": "u8",
}  # fmt: skip
"""Types of PyTorch, as contracts call them."""

SIZES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}


@dataclass(frozen=True)
class Written:
    """The files of a contract.

    Attributes
    ----------
    kernel, contract : Path
        The files.
    reference : Path, optional
        That of the reference, if there is one.
    """

    kernel: Path
    contract: Path
    reference: Path | None


def _table(head: str, entries: dict[str, Any]) -> str:
    lines = [head]
    for key, value in entries.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            fields = [
                "{ " + ", ".join(f"{name} = {json.dumps(part)}" for name, part in each.items()) + " }"
                for each in value
            ]
            lines.append(f"{key} = [\n  " + ",\n  ".join(fields) + ",\n]")
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


class ContractWriter:
    """Writes what a recording is as a contract.

    Parameters
    ----------
    candidate : Recording
        What is verified.
    reference : Recording, optional
        What it must compute; without, only memory is looked at.
    requires : sequence of str
        Conditions on the inputs.
    target : str
        ``sm_80``.
    """

    def __init__(
        self,
        candidate: Recording,
        reference: Recording | None,
        requires: Sequence[str] = (),
        target: str = "sm_80",
    ) -> None:
        self._every = candidate.steps
        self.recording = replace(candidate, steps=needed(candidate))
        self.reference, self.target = reference, target
        self.requires = [*requires, *data_conditions(candidate, reference)]
        self.names = identifiers(candidate)
        self._params: dict[str, dict[str, Any]] = {}
        self._arrays: dict[str, dict[str, Any]] = {}
        self._launches: list[dict[str, Any]] = []
        self._steps: list[str] = []
        self._outputs: list[str] = []
        self._copies: list[tuple[str, View]] = []
        self._modules = merged([Path(launch.ptx) for launch in candidate.launches])

    # -- arrays
    def _plan_results(self) -> dict[int, tuple[int, ...]]:
        """Return the storages that are results as they are, with shapes; others get copies at the end."""
        whole: dict[int, tuple[int, ...]] = {}
        for place, each in enumerate(self.recording.results):
            storage = self.recording.storages[each.storage]
            fits = each.is_row_major and each.offset == 0 and prod(each.shape) == storage.elements
            given = storage.origin in ("input", "parameter") or storage.name == "constant"
            if fits and each.storage not in whole and not given:
                whole[each.storage] = each.shape
                self._outputs.append(self.names[each.storage])
            else:
                self._outputs.append(f"result{place}")
                self._copies.append((f"result{place}", each))
        return whole

    def _array(self, number: int, whole: dict[int, tuple[int, ...]]) -> dict[str, Any]:
        storage = self.recording.storages[number]
        shape = list(storage.shape) if prod(storage.shape) == storage.elements else [storage.elements]
        shape = list(whole[number]) if number in whole else shape
        entries: dict[str, Any] = {"name": self.names[number], "type": _format(storage)}
        entries["shape"] = shape or [1]  # arrays of contracts have an axis at least
        fresh = storage.origin not in ("input", "parameter")
        if number in whole:
            entries["access"] = "inout" if not fresh or storage.values is not None else "out"
        elif storage.origin == "constant" and storage.name == "constant":
            entries["access"] = "in"
        elif fresh:
            entries["access"] = "scratch"
        if storage.values is not None:
            entries["values"] = list(storage.values)
        if storage.variable is not None:
            entries["variable"] = self._modules.variable(*storage.variable)
        return entries

    # -- steps
    def _refuse_changed_inputs(self) -> None:
        """Refuse steps that change an input, also those that no result depends on."""
        for step in self._every:
            if not isinstance(step, Operation):
                continue
            for result in step.results:
                if result is not None and self.recording.storages[result.storage].origin == "input":
                    name = self.recording.storages[result.storage].name
                    raise NotRecordedError(f"{step.name} changes {name}, an input, in {step.where}")

    def _operation(self, operation: Operation, number: int) -> None:
        for result in operation.results:
            if result is None:
                continue
            storage = self.recording.storages[result.storage]
            if self._params[self.names[result.storage]].get("access", "in") == "in":
                what = f"{operation.name} changes {storage.name}, an input, in {operation.where}"
                raise NotRecordedError(what)
        text, taken = step_text(f"step{number}", operation, self.names)
        self._steps.append(text)
        self._launches.append({"host": f"steps.py:step{number}", "source": operation.where, "params": taken})

    def _launch(self, launch: Launch, number: int) -> None:
        params: list[str] = []
        for place, each in enumerate(launch.passed):
            name = f"launch{number}_{place}"
            if each.is_structure:
                fields = [self._field(f"{name}_{at}", at, part) for at, part in each.parts]
                self._params[name] = {"name": name, "size": each.size, "fields": fields}
                params.append(name)
                continue
            part = each.parts[0][1]
            if isinstance(part, Word):
                self._params[name] = {"name": name, "type": SIZES[part.size], "value": part.bits}
                params.append(name)
            elif part.at == 0 and self.names[part.storage] not in params:
                params.append(self.names[part.storage])
            else:
                target = self.names[part.storage]
                self._params[name] = {"name": name, "type": "pointer", "to": target, "at": part.at}
                params.append(name)
        entry: dict[str, Any] = {
            "entry": launch.entry,
            "grid": list(launch.grid),
            "block": list(launch.block),
        }
        if launch.shared:
            entry["dynamic_shared"] = launch.shared
        self._launches.append({**entry, "params": params})

    def _field(self, name: str, at: int, part: Pointer | Word) -> dict[str, Any]:
        if isinstance(part, Word):
            return {"name": name, "offset": at, "type": SIZES[part.size], "value": part.bits}
        return {
            "name": name, "offset": at, "type": "pointer", "to": self.names[part.storage], "at": part.at,
        }  # fmt: skip

    # -- all of it
    def write(self, folder: Path) -> Written:
        """Write the files of the contract.

        Raises
        ------
        NotRecordedError
            If something that was recorded can't be said by a contract.
        """
        self._refuse_changed_inputs()
        whole = self._plan_results()
        used = _used(self.recording)
        if self.reference is not None:
            storages = enumerate(self.recording.storages)
            used |= {number for number, each in storages if each.origin in ("input", "parameter")}
        for number in sorted(used):
            if self.recording.storages[number].elements:
                self._params[self.names[number]] = self._array(number, whole)
        if self.reference is not None:
            self._take_what_is_missing(self.reference)
        for number, step in enumerate(self.recording.steps):
            if isinstance(step, Launch):
                self._launch(step, number)
            else:
                self._operation(step, number)
        for name, view in self._copies:
            storage = self.recording.storages[view.storage]
            self._params[name] = {
                "name": name, "type": _format(storage), "shape": list(view.shape) or [1], "access": "out",
            }  # fmt: skip
            result = replace(view, storage=len(self.names), strides=row_major(view.shape), offset=0)
            copy = Operation("copy", (view,), {}, (result,), "the result")
            text, taken = step_text(name, copy, [*self.names, name])
            self._steps.append(text)
            self._launches.append(
                {"host": f"steps.py:{name}", "source": "the returned tensor", "params": taken}
            )
        self._take_the_rest()
        return self._files(folder)

    def _take_what_is_missing(self, reference: Recording) -> None:
        """Take what a reference is given and the candidate does not have, if nothing depends on it.

        Raises
        ------
        NotRecordedError
            If the reference's results depend on it: it is data, though a candidate may have its numbers.
        """
        needs = _used(replace(reference, steps=needed(reference)))
        for number, storage in enumerate(reference.storages):
            name = identifiers(reference)[number]
            if storage.origin not in ("input", "parameter") or not storage.elements or name in self._params:
                continue
            if number in needs:
                raise NotRecordedError(
                    f"the candidate has no {storage.name}, which the reference computes with"
                )
            shape = list(storage.shape) if prod(storage.shape) == storage.elements else [storage.elements]
            self._params[name] = {"name": name, "type": _format(storage), "shape": shape or [1]}

    def _take_the_rest(self) -> None:
        """Let a step of the host take what nothing else takes, and leave pointers' arrays to pointers."""
        taken = {name for launch in self._launches for name in launch["params"]}
        led = {each.get("to") for each in self._params.values()}
        led |= {part.get("to") for each in self._params.values() for part in each.get("fields", ())}
        for name in [each for each in self._params if each not in taken]:
            if name in led:
                self._arrays[name] = self._params.pop(name)
        rest = [each for each in self._params if each not in taken]
        if rest:
            self._steps.append(f"def unused({', '.join(rest)}):\n    return {{}}\n")
            unused = {"host": "steps.py:unused", "source": "no launch takes it", "params": rest}
            self._launches.insert(0, unused)

    def _files(self, folder: Path) -> Written:
        parts = [_table("[kernel]", {"isa": "ptx", "target": self.target})]
        params = self._params
        if len(self._launches) == 1 and "entry" in self._launches[0]:
            (launch,) = self._launches
            kernel_table = {"isa": "ptx", "entry": launch.pop("entry"), "target": self.target}
            parts[0] = _table("[kernel]", kernel_table)
            params = {name: self._params[name] for name in launch.pop("params")}
            parts.append(_table("[launch]", launch))
        else:
            parts += [_table("[[launch]]", each) for each in self._launches]
        parts += [_table("[[param]]", each) for each in params.values()]
        parts += [_table("[[array]]", array) for array in self._arrays.values()]
        if self.requires:
            parts.append(_table("[requires]", {"conditions": self.requires}))
        reference = None
        if self.reference is not None:
            parts.append(_table("[ensures]", {"reference": "reference.py:reference"}))
            reference = folder / "reference.py"
            names = identifiers(self.reference)
            text = reference_text(self.reference, names, self._outputs, "The reference, as it was recorded.")
            reference.write_text(text, encoding="utf-8")
        if self._steps:
            text = HEAD.format(what="What the host does between launches.") + "\n\n".join(self._steps)
            (folder / "steps.py").write_text(text, encoding="utf-8")
        kernel, contract = folder / "kernels.ptx", folder / "contract.toml"
        kernel.write_text(self._modules.text, encoding="utf-8")
        contract.write_text("\n".join(parts), encoding="utf-8")
        return Written(kernel, contract, reference)


def _format(storage: Storage) -> str:
    if storage.dtype not in FORMATS:
        raise NotRecordedError(f"tensors of {storage.dtype}")
    return FORMATS[storage.dtype]


def _used(recording: Recording) -> set[int]:
    """Return the storages that steps and results are about."""
    found = {result.storage for result in recording.results}
    for step in recording.steps:
        if isinstance(step, Launch):
            found |= step.storages
        else:
            seen = [*step.arguments, *step.options.values(), *step.results]
            found |= {each.storage for each in views_in(seen)}
    return found
