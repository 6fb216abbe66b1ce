"""A cluster of two worker processes here, one of which is killed: the same verdicts, nothing lost."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import mmaproof as command

import mmaproof
from mmaproof.api.proving import Checking, checking_of
from mmaproof.proofs import runner
from mmaproof.proofs.catalogue import matching
from mmaproof.proofs.pool import cluster
from mmaproof.proofs.runner import Settings
from mmaproof.spec.errors import InputError
from tools.mutation.campaign import campaign
from tools.mutation.scope import modules_of

pytest.importorskip("distributed", reason="dask distributed is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples" / "verify"


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "1h"}
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        port: int = here.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    port = free_port()
    with started("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show"):
        address = f"tcp://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert time.monotonic() < deadline, "the scheduler does not start"
            time.sleep(0.1)
        yield address


@pytest.fixture
def workers(scheduler: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two workers, of which the tests kill the first."""
    options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0")
    with started("worker", scheduler, *options) as first, started("worker", scheduler, *options) as second:
        deadline = time.monotonic() + 60
        while threads(scheduler) < 2:
            assert time.monotonic() < deadline, "the workers do not come"
            time.sleep(0.2)
        yield [first, second]


def threads(address: str) -> int:
    with cluster(address) as found:
        return found.threads


def killed(worker: subprocess.Popen[bytes]) -> None:
    worker.send_signal(signal.SIGKILL)
    worker.wait()


def checking(*patterns: str, scheduler: str | None) -> Checking:
    return checking_of(
        patterns, jobs=1, timeout=60.0, memory=None, solver="z3", cache=False, scheduler=scheduler
    )


@pytest.mark.every_run
def test_obligations_are_decided_although_a_worker_dies(
    scheduler: str, workers: list[subprocess.Popen[bytes]]
) -> None:
    elsewhere = checking("power/integers/product-range", "power/integers/overflow", scheduler=scheduler)
    seen = 0

    @contextlib.contextmanager
    def watched(what: str, number: int) -> Iterator[object]:
        def advance(*_: object) -> None:
            nonlocal seen
            seen += 1
            if seen == 1:
                killed(workers[0])

        yield advance

    report, stopped = elsewhere.report(recheck=False, progress=watched)
    assert stopped is None and seen == len(elsewhere.selected)
    assert workers[0].poll() is not None
    here = mmaproof.check("power/integers/product-range", "power/integers/overflow", cache=False)
    of = lambda found: {o.obligation.id: o.verdict.status for o in found.run.outcomes}  # noqa: E731
    assert of(report) == of(here) and report.holds


def several_sizes(folder: Path) -> Path:
    text = (EXAMPLES / "simt_f32.toml").read_text(encoding="utf-8")
    sizes = "".join(f"[[sizes]]\nM = {m}\nN = {n}\nK = {k}\n" for m, n, k in ((5, 3, 4), (4, 6, 3)))
    contract = folder / "several.toml"
    contract.write_text(text.replace("[sizes]\nM = 19\nN = 37\nK = 37\n", sizes), encoding="utf-8")
    return contract


def test_sizes_are_verified_although_a_worker_dies(
    scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    contract = several_sizes(tmp_path)
    kernel = EXAMPLES / "simt_f32_sm80.ptx"
    here = mmaproof.verify(kernel, contract)
    assert len(here.result.stats["sizes"]) > 1, "there is something to share"

    def told(what: str, done: int, all_: int) -> None:
        if what == "running elsewhere" and done == 0:
            threading.Timer(0.2, killed, [workers[0]]).start()

    there = mmaproof.verify(kernel, contract, scheduler=scheduler, told=told)
    documents = [each.result.document() for each in (here, there)]
    for document in documents:
        del document["stats"]  # times, and how many terms there were
    assert documents[0] == documents[1] and there.result.verdict == "verified"
    workers[0].wait(timeout=30)


@pytest.mark.sweep
def test_a_faulty_kernel_is_refuted_on_a_cluster(
    scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    kernel = tmp_path / "simt.ptx"
    text = (EXAMPLES / "simt_f32_sm80.ptx").read_text(encoding="utf-8")
    kernel.write_text(
        text.replace("fma.rn.f32", "fma.rz.f32", 1).replace("add.s32", "sub.s32", 1), encoding="utf-8"
    )
    contract = several_sizes(tmp_path)
    here = mmaproof.verify(kernel, contract).result
    there = mmaproof.verify(kernel, contract, scheduler=scheduler).result
    assert here.verdict == there.verdict
    assert list(map(str, here.findings)) == list(map(str, there.findings))


@pytest.mark.sweep
def test_faults_are_tried_although_a_worker_dies(
    scheduler: str, workers: list[subprocess.Popen[bytes]]
) -> None:
    elsewhere = checking("power/integers/product-range", scheduler=scheduler)
    modules = [each for each in modules_of(["power"]) if each.name.endswith("formats")]
    tried = []

    def report(result: object) -> None:
        tried.append(result)
        if len(tried) == 1:
            killed(workers[0])

    there = campaign(elsewhere.selected, modules, 4, 3, elsewhere.settings, report)
    local = checking("power/integers/product-range", scheduler=None)
    here = campaign(local.selected, modules, 4, 3, local.settings)
    of = lambda score: [(r.mutant.place, r.mutant.fault.new, r.outcome) for r in score.results]  # noqa: E731
    assert of(there) == of(here) and len(tried) == 4


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmaproof.proofs.pool.CONNECT_LIMIT", 1)
    result = command(
        "verify", EXAMPLES / "simt_f32_sm80.ptx", "--contract", EXAMPLES / "simt_f32.toml",
        "--scheduler", f"tcp://127.0.0.1:{free_port()}",
    )  # fmt: skip
    assert result.wrong_use and "no dask scheduler answers" in result.err


def test_the_scheduler_must_answer_although_the_cache_has_everything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mmaproof.proofs.pool.CONNECT_LIMIT", 1)
    (obligation,) = matching(("power/layout/accumulator/s32",))
    here = Settings(jobs=1, cache=tmp_path)
    for _ in range(2):
        (verdict,) = runner.run([obligation], here)
    assert verdict.cached
    with pytest.raises(InputError, match="no dask scheduler answers"):
        runner.run([obligation], replace(here, scheduler=f"tcp://127.0.0.1:{free_port()}"))
