"""The plugin of pytest: ``@pytest.mark.mmaproof("gemm.ptx", "gemm.toml")`` verifies a kernel first.

The paths are relative to the test's file. What is not verified fails; ``allowed=["undecided"]`` lets
pass what is not decided. The fixture ``mmaproof_report`` is the report, of the nearest mark.
``@pytest.mark.mmaproof_torch("problem.py", "solution.py")`` verifies a module of PyTorch in the same way, and
the fixture ``mmaproof_torch_result`` is what was found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..reports.verify_report import VerifyReport
    from .torch.outcome import TorchResult

OPTIONS = ("against", "choices", "every", "allowed")
MARK = (
    "mmaproof(kernel, contract, *, against=None, choices=(), every=True, allowed=()): verify a kernel first"
)
TORCH_OPTIONS = ("sizes", "requires", "mode", "target", "allowed")
TORCH_MARK = (
    "mmaproof_torch(problem, solution, *, sizes=None, requires=(), mode=None, target=80, allowed=()): "
    "verify a module of PyTorch first"
)

_reasons = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", MARK)
    config.addinivalue_line("markers", TORCH_MARK)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the fixture run for every test that is marked."""
    for item in items:
        if item.get_closest_marker("mmaproof") and isinstance(item, pytest.Function):
            item.fixturenames.insert(0, "mmaproof_report")
        if item.get_closest_marker("mmaproof_torch") and isinstance(item, pytest.Function):
            item.fixturenames.insert(0, "mmaproof_torch_result")


@pytest.fixture
def mmaproof_report(request: pytest.FixtureRequest) -> VerifyReport | None:
    """Return what was found about the kernel that the test's mark names; None where it can't be read.

    A test without a mark fails: nothing is verified in it.
    """
    from ..spec.errors import MmaproofError
    from .kernels import NotVerifiedError, assert_verified

    if request.node.get_closest_marker("mmaproof") is None:
        pytest.fail(f"{request.node.nodeid}: mmaproof_report needs the mark {MARK}", pytrace=False)
    reports: list[VerifyReport] = []
    reasons = request.node.stash.setdefault(_reasons, [])
    for mark in request.node.iter_markers("mmaproof"):
        if len(mark.args) != 2 or not set(mark.kwargs) <= set(OPTIONS):
            pytest.fail(f"{request.node.nodeid}: the mark is {MARK}", pytrace=False)
        options = dict(mark.kwargs)
        folder = request.node.path.parent
        if options.get("against") is not None:
            options["against"] = folder / options["against"]
        kernel, contract = (folder / argument for argument in mark.args)
        try:
            reports.append(assert_verified(kernel, contract, **options))
        except NotVerifiedError as reason:
            reports.append(reason.report)
            reasons.append(str(reason))
        except MmaproofError as reason:
            reasons.append(str(reason))
    return reports[0] if reports else None


@pytest.fixture
def mmaproof_torch_result(request: pytest.FixtureRequest) -> TorchResult | None:
    """Return what was found about the module of PyTorch that the test's mark names, if it can be read.

    A test without a mark fails: nothing is verified in it.
    """
    from ..spec.errors import MmaproofError
    from .torch.assertion import ModuleNotVerifiedError, assert_verified

    mark = request.node.get_closest_marker("mmaproof_torch")
    if mark is None or len(mark.args) != 2 or not set(mark.kwargs) <= set(TORCH_OPTIONS):
        pytest.fail(
            f"{request.node.nodeid}: mmaproof_torch_result needs the mark {TORCH_MARK}", pytrace=False
        )
    reasons = request.node.stash.setdefault(_reasons, [])
    problem, solution = (request.node.path.parent / argument for argument in mark.args)
    try:
        return assert_verified(problem, solution, **mark.kwargs)
    except ModuleNotVerifiedError as reason:
        reasons.append(str(reason))
        return reason.result
    except MmaproofError as reason:
        reasons.append(str(reason))
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Fail a test whose kernel is not verified."""
    if reasons := item.stash.get(_reasons, []):
        pytest.fail("\n".join(reasons), pytrace=False)
