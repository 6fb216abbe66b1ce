"""A catalogue for tests of the runner: obligations that hold, fail, hang, raise and crash."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from mmaproof.proofs.obligation import (
    Deduction,
    Equation,
    Goal,
    Method,
    Obligation,
    Property,
    Status,
    Variable,
    holds,
)
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import S64, U8, U32

CATALOGUE = "runner_obligations:obligations"
PIDS = "MMAPROOF_TEST_PIDS"
"""Environment variable: a folder in which an obligation that hangs leaves its process id."""


def commutes() -> Property:
    """x + y = y + x, which rewriting does not see through the comparison."""

    def claim(alg, v):
        x, y = (alg.integer(v[name], U8) for name in "xy")
        yield Equation(alg.wrap(x * y + y, U8), alg.wrap((x + alg.whole(1)) * y, U8), U8)

    return Property((Variable("x", U8), Variable("y", U8)), claim, abstract=False)


def no_zero() -> Property:
    def claim(alg, v):
        yield holds(alg, ~alg.same(v["x"], alg.constant(200, U8)))

    return Property((Variable("x", U8),), claim, abstract=False)


def prime() -> Property:
    """A product of two primes has no factors: false, and out of reach of every solver and of sampling."""

    def claim(alg, v):
        product = alg.integer(v["x"], U32) * alg.integer(v["y"], U32)
        yield holds(alg, ~alg.same(alg.wrap(product, S64), alg.constant(3267000013 * 2860486313, S64)))

    return Property((Variable("x", U32), Variable("y", U32)), claim, abstract=False)


def hangs() -> Property:
    Path(os.environ[PIDS], str(os.getpid())).touch()
    time.sleep(600)
    return commutes()


def raises() -> Property:
    raise RuntimeError("of two\nlines")


def unsupported() -> Property:
    raise UnsupportedError("not modelled")


def exhausts() -> Property:
    raise MemoryError


def greedy() -> Property:
    np.ones(1 << 40)
    return commutes()


def killed() -> Property:
    os.kill(os.getpid(), signal.SIGKILL)
    return commutes()


def half_line() -> Property:
    """End in the middle of a message, on whichever descriptor the worker writes to."""
    for descriptor in range(3, 20):
        with suppress(OSError):
            os.write(descriptor, b'{"id": ')
    os._exit(0)


def crashes() -> Property:
    os.kill(os.getpid(), signal.SIGSEGV)
    return commutes()


def exits() -> Property:
    os._exit(3)


def _induction(*premises: str) -> Callable[[], Goal]:
    return lambda: Deduction(tuple(f"test/{premise}" for premise in premises))


def obligations(made: dict[str, Obligation] = {}) -> dict[str, Obligation]:  # noqa: B006 (made once)
    if made:
        return made
    goals: dict[str, Callable[[], Goal]] = {
        "whole": _induction("base", "step"),
        "whole-of-whole": _induction("whole", "base"),
        "broken-whole": _induction("base", "false"),
        "circular": _induction("circular", "base"),
        "homeless": _induction("base", "nowhere"),
        "base": commutes,
        "false": no_zero,
        "step": commutes,
        "factors": prime,
        "hangs": hangs,
        "raises": raises,
        "unsupported": unsupported,
        "exhausts": exhausts,
        "greedy": greedy,
        "killed": killed,
        "half-line": half_line,
        "crashes": crashes,
        "exits": exits,
    }
    inductions = {"whole", "whole-of-whole", "broken-whole", "circular", "homeless"}
    for name, goal in goals.items():
        method = Method.DEDUCTION if name in inductions else Method.SMT
        expect = Status.REFUTED if name == "false" else Status.PROVED
        made[f"test/{name}"] = Obligation(f"test/{name}", name, goal, expect, method=method)
    return made
