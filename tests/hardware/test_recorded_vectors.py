"""Every committed vector is replayed; so are vectors that the specification recorded itself, also damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hardware.cases import Case, cases
from hardware.driver import DriverError, Gpu
from hardware.kernels import module
from hardware.record import record, record_families
from hardware.replay import disagreements, expected, report
from hardware.vector_files import VECTORS, Array, Recording, VectorFile

from mmaproof.spec.formats import F32, FloatFormat
from mmaproof.spec.ptx.targets import Target, Version, target_named
from mmaproof.spec.ptx.variant import Family

SAMPLE = 9
"""One of so many cases is recorded."""


class SpecifiedDevice:
    """Executes what the specification says; ``fault`` is applied to every result."""

    name, driver = "numpy executor", "none"

    def __init__(
        self,
        target: Target,
        wanted: list[tuple[Case, Version]],
        fault: Callable[[Array], Array] = lambda result: result,
    ) -> None:
        self.target, self.fault = target, fault
        self.case_of_source = {module([case], target, ptx): case for case, ptx in wanted}

    def run(self, source: str, entry: str, buffers: Mapping[str, Array], result: str) -> Array:
        case = self.case_of_source[source]
        assert entry in source
        assert result == case.result
        return self.fault(expected(case, {name: buffers[name] for name in case.inputs}, self.target))


def sample(target: str) -> list[tuple[Case, Version]]:
    return list(cases(target_named(target)))[::SAMPLE]


def recorded(target: str, fault: Callable[[Array], Array] = lambda result: result) -> VectorFile:
    wanted = sample(target)
    device = SpecifiedDevice(target_named(target), wanted, fault)
    recordings = list(record(device, wanted, 8, np.random.default_rng(1)))
    return VectorFile(target, device.name, device.driver, recordings)


def one_case(target: str, instruction: str) -> tuple[Case, Version]:
    return next(found for found in cases(target_named(target)) if str(found[0].variant) == instruction)


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_120a"])
def test_recorded_vectors_are_as_specified(target: str, tmp_path: Path) -> None:
    own = tmp_path / "own.npz"
    recorded(target).write(own)
    committed = sorted(VECTORS.glob(f"{target}-*.npz"))
    for path in [own, *committed]:
        assert report(VectorFile.read(path)) == []


def test_every_committed_file_names_a_replayed_target() -> None:
    replayed = ("sm_75-", "sm_80-", "sm_90a-", "sm_120a-")
    assert [path.name for path in VECTORS.glob("*") if not path.name.startswith(replayed)] == []


def test_a_file_keeps_cases_operands_and_results(tmp_path: Path) -> None:
    written = recorded("sm_120a")
    written.write(tmp_path / "file.npz")
    read = VectorFile.read(tmp_path / "file.npz")
    assert (read.target, read.device, read.driver) == (written.target, written.device, written.driver)
    for one, other in zip(written.recordings, read.recordings, strict=True):
        assert one.case == other.case
        assert all(np.array_equal(one.inputs[name], other.inputs[name]) for name in one.case.inputs)
        assert np.array_equal(one.result, other.result)


def test_one_wrong_bit_of_a_first_element_is_reported() -> None:
    def flip(result: Array) -> Array:
        wrong = result.copy()
        wrong[0].reshape(-1)[0] ^= wrong.dtype.type(1)
        return wrong

    file = recorded("sm_120a", flip)
    assert all(disagreements(recording, target_named(file.target))[0] for recording in file.recordings)
    assert len(report(file)) == len(file.recordings)


def test_exchanged_lanes_are_reported() -> None:
    file = recorded("sm_90a", lambda result: np.roll(result, 1, axis=1))
    silent = [r for r in file.recordings if not disagreements(r, target_named(file.target)).any()]
    assert silent == []


def test_what_a_kernel_leaves_unwritten_is_reported() -> None:
    file = recorded("sm_80", lambda result: np.full_like(result, 0xA5))
    assert len(report(file)) == len(file.recordings)


def test_another_selector_is_reported() -> None:
    found = [r for r in recorded("sm_120a").recordings if r.case.selected.scale_a]
    assert found
    for recording in found:
        selectors = recording.case.selected
        assert selectors.scale_a is not None
        other = selectors.scale_a._replace(thread_id=1 - selectors.scale_a.thread_id)
        wrong = replace(recording.case, selected=replace(selectors, scale_a=other))
        assert disagreements(replace(recording, case=wrong), target_named("sm_120a")).any()


def test_only_the_payload_of_a_nan_is_free() -> None:
    target = target_named("sm_90a")
    case, _ = one_case("sm_90a", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
    inputs = {name: np.zeros((1, *case.buffers[name].shape), "<u4") for name in case.inputs}
    inputs["c"][:] = F32.default_nan
    result = expected(case, inputs, target)
    assert isinstance(F32, FloatFormat)
    assert F32.infinity is not None
    for value, wrong in ((0xFFC01234, False), (0x7F800001, False), (F32.infinity, True), (0, True)):
        seen = Recording(case, inputs, np.full_like(result, value))
        assert disagreements(seen, target).any() == wrong


def test_families_are_written_to_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = sample("sm_120a")
    monkeypatch.setattr("hardware.record.cases", lambda target: iter(wanted))
    assert record_families(SpecifiedDevice(target_named("sm_120a"), wanted), tmp_path, 2, 0)
    families = {case.variant.family for case, _ in wanted}
    assert len(list(tmp_path.glob("*.npz"))) == len(families)
    assert Family.MMA in families


def test_a_missing_driver_is_said() -> None:
    with pytest.raises(DriverError, match="no NVIDIA driver"):
        Gpu("no_such_driver.so")
