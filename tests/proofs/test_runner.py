"""Properties of the runner: verdicts arrive in order, nothing survives a deadline, nothing stops the run."""

import os
import signal
import subprocess
import sys
import time

import pytest
from runner_obligations import CATALOGUE, PIDS, obligations

from mmaproof.proofs import pool
from mmaproof.proofs.obligation import Status
from mmaproof.proofs.pool import Pool
from mmaproof.proofs.runner import Settings, run
from mmaproof.proofs.worker import WorkerAssignment
from mmaproof.smt.portfolio import names_for
from mmaproof.spec.errors import InputError

WHOLE = ["whole-of-whole", "whole", "broken-whole", "circular", "homeless", "false", "step"]


def chosen(*names):
    return [obligations()[f"test/{name}"] for name in names]


def decided(*names, jobs=2, **settings):
    reported = []
    found = run(chosen(*names), Settings(jobs=jobs, catalogue=CATALOGUE, **settings), reported.append)
    assert sorted(v.id for v in reported) == sorted(v.id for v in found) == sorted(f"test/{n}" for n in names)
    return found


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.fixture
def pids(tmp_path, monkeypatch):
    monkeypatch.setenv(PIDS, str(tmp_path))
    return lambda: [int(path.name) for path in tmp_path.iterdir()]


@pytest.mark.parametrize("jobs", [0, 1, 3])
def test_verdicts_come_in_the_order_asked_whoever_decides(jobs):
    found = decided("step", "false", "base", jobs=jobs)
    assert [v.id for v in found] == ["test/step", "test/false", "test/base"]
    assert [v.status for v in found] == [Status.PROVED, Status.REFUTED, Status.PROVED]
    assert found[1].counterexample.replays
    assert found[1].counterexample.inputs["x"]["bits"] == ["0xc8"]
    assert not any(v.cached for v in found)


@pytest.mark.parametrize("jobs", [0, 2])
def test_an_induction_stands_on_the_verdicts_of_its_premises(jobs):
    found = dict(zip(WHOLE, decided(*WHOLE, jobs=jobs), strict=True))
    assert found["whole"].status is found["whole-of-whole"].status is Status.PROVED
    for name, premise in (("broken-whole", "false"), ("circular", "circular"), ("homeless", "nowhere")):
        assert found[name].status is Status.UNKNOWN
        assert found[name].message == f"premise not proved: test/{premise}"


@pytest.mark.parametrize(
    ("name", "status"), [("whole-of-whole", Status.PROVED), ("broken-whole", Status.UNKNOWN)]
)
def test_an_induction_alone_has_its_premises_decided_but_not_reported(name, status):
    (verdict,) = decided(name)
    assert verdict.status is status


def test_a_query_that_hangs_is_unknown_and_its_process_is_gone(pids):
    hanging, proved = decided("hangs", "base", jobs=1, timeout=0.2)
    assert (hanging.status, hanging.message) == (Status.UNKNOWN, "timeout after 0.2 s")
    assert proved.status is Status.PROVED
    (pid,) = pids()
    assert not alive(pid)


@pytest.mark.parametrize("solver", [*names_for("all"), "all"])
def test_a_query_out_of_reach_times_out(solver):
    (verdict,) = decided("factors", timeout=1, solver=solver)
    assert verdict.status is Status.UNKNOWN
    assert "timeout after 1 s" in verdict.message


def test_crashes_and_exceptions_are_errors_and_the_run_goes_on():
    names = ("crashes", "base", "raises", "exits", "half-line", "step")
    crashed, base, raised, exited, cut, step = decided(*names, jobs=1)
    assert base.status is step.status is Status.PROVED
    assert crashed.status is raised.status is exited.status is cut.status is Status.ERROR
    assert raised.message == "RuntimeError: of two lines"
    assert "SIGSEGV" in crashed.message
    assert "exit code 3" in exited.message


@pytest.mark.parametrize("jobs", [0, 1])
def test_an_exception_in_this_process_is_an_error_too(jobs):
    names = ("raises", "unsupported", "exhausts", "base")
    expected = [Status.ERROR, Status.UNKNOWN, Status.UNKNOWN, Status.PROVED]
    assert [v.status for v in decided(*names, jobs=jobs)] == expected


def test_a_process_killed_from_outside_leaves_its_obligation_unknown():
    killed, base = decided("killed", "base", jobs=1)
    assert (killed.status, base.status) == (Status.UNKNOWN, Status.PROVED)
    assert killed.message == "the worker process died of SIGKILL, perhaps for want of memory"


def test_what_needs_more_memory_than_a_process_may_take_is_unknown():
    greedy, base = decided("greedy", "base", jobs=1, memory=1.0)
    assert (greedy.status, base.status) == (Status.UNKNOWN, Status.PROVED)
    assert "MemoryError" in greedy.message


def test_an_error_while_reporting_kills_the_workers(pids):
    def report(verdict):
        raise KeyError(verdict.id)

    with pytest.raises(KeyError):
        run(chosen("base", "hangs"), Settings(jobs=2, catalogue=CATALOGUE), report)
    assert not any(alive(pid) for pid in pids())


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # not as inherited
sys.path[:] = {path!r}
from mmaproof.proofs.runner import Settings, run
from runner_obligations import CATALOGUE, obligations
try:
    run([obligations()["test/hangs"]], Settings(jobs=1, catalogue=CATALOGUE))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_no_worker_outlives_the_run(pids, sent, code):
    program = INTERRUPTED.format(path=sys.path)
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True) as process:
        assert eventually(pids)
        (worker,) = pids()
        process.send_signal(sent)
        assert process.wait(20) == code
        assert process.stderr.read() == ""
    assert eventually(lambda: not alive(worker))


def test_workers_that_can_not_start_are_errors_of_the_obligations(monkeypatch):
    made = []
    start = pool.Worker.__init__
    monkeypatch.setattr(pool.Worker, "__init__", lambda self, how: (made.append(self), start(self, how))[1])
    assignment = WorkerAssignment("z3", 1.0, catalogue="runner_obligations:nothing")
    with Pool(assignment) as workers:
        verdicts = [workers.decide("test/base") for _ in range(3)]
    assert {verdict.status for verdict in verdicts} == {Status.ERROR}
    assert "no attribute 'nothing'" in verdicts[0].message
    assert len(made) == pool.START_ATTEMPTS


@pytest.mark.parametrize("already", [0, 1])
def test_a_worker_that_dies_before_it_is_ready_is_started_again(already, monkeypatch):
    start, dying = pool.Worker.__init__, iter([False] * already + [True] * (pool.START_ATTEMPTS - 1))

    def started(self, how):
        start(self, how)
        if next(dying, False):
            self._process.kill()

    monkeypatch.setattr(pool.Worker, "__init__", started)
    with Pool(WorkerAssignment("z3", 10.0, catalogue=CATALOGUE)) as workers:
        verdicts = [workers.decide(f"test/{name}") for name in ("base", "exits", "step")]
    assert [v.status for v in verdicts] == [Status.PROVED, Status.ERROR, Status.PROVED]


def test_workers_are_kept_for_the_next_obligation():
    with Pool(WorkerAssignment("z3", 10.0, catalogue=CATALOGUE)) as workers:
        first = workers.decide("test/base"), workers.process_ids
        second = workers.decide("test/step"), workers.process_ids
        assert first[1] == second[1]
    assert workers.process_ids == []
    assert not any(map(alive, first[1]))


def test_workers_refuse_what_is_not_in_the_catalogue():
    with pytest.raises(ValueError, match=r"test/base is not in mmaproof\.proofs\.catalogue:obligations"):
        run(chosen("base"), Settings(jobs=1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jobs": -1}, "the number of jobs must be 0 or more, not -1"),
        *(
            (
                {"timeout": value},
                f"the timeout must be a positive number of seconds, at most 1e+06, not {value:g}",
            )
            for value in (0, float("nan"), float("inf"), 1e300)
        ),
        ({"memory": 0}, "the memory must be a positive number of GiB, not 0"),
        ({"solver": "yices"}, "unknown solver 'yices'; known: z3, bitwuzla, cvc5, all"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(InputError) as caught:
        Settings(**settings)
    assert str(caught.value) == message


def test_a_scheduler_without_dask_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'mmaproof\[distributed\]'"):
        decided("base", scheduler="tcp://localhost:1")
