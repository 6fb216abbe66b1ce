"""Kernels against contracts, and what is written and asserted of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from . import arguments
from .arguments import several

if TYPE_CHECKING:
    from ..refinement.instance_verification import Told
    from ..refinement.recheck.rechecking import Rechecked
    from ..reports.verify_report import VerifyReport


def verify(
    kernel: Path | str,
    contract: Path | str,
    *,
    against: Path | str | None = None,
    choices: str | Sequence[str] = (),
    every: bool = True,
    told: Told | None = None,
    counterexamples: Path | str | None = None,
    scheduler: str | None = None,
    certified: bool = False,
) -> VerifyReport:
    """Verify a kernel against a contract, or against another kernel, for all data.

    Parameters
    ----------
    kernel, contract : Path or str
        The files. A source file (``.cu``, or ``.c`` for Power) is compiled first, for the default processor;
        `mmaproof.compiled` is for others.
    against : Path or str, optional
        A kernel that computes the same; the contract then has no formulas.
    choices : str or sequence of str
        What the bound takes matrix instructions to round: ``hopper``, ...
    every : bool
        Sizes that are domains must be shown for all of the domain.
    told : callable, optional
        Called with what is being done, how much of it is done, and all of it.
    counterexamples : Path or str, optional
        The directory in which a counterexample is saved; by default none is.
    scheduler : str, optional
        Address of a Dask scheduler (``tcp://HOST:PORT``), whose workers verify sets of sizes.
    certified : bool
        Whether a certificate is made; ``report.found.certificate`` is its document.

    Returns
    -------
    VerifyReport
        Its ``result`` has the verdict, the findings, the bound; ``document()`` is the JSON.

    Raises
    ------
    InputError
        If a file can't be read, or the contract does not suit the kernel.
    DisagreementError
        If symbols and numbers disagree: a defect of mmaproof.
    """
    from ..proofs.pool import cluster
    from ..refinement.normal_forms.functions import kept_proofs
    from ..refinement.verification import verify as decide
    from ..reports import verify_report
    from ..version import __version__
    from .kept_texts import TEXTS

    kept_proofs.use(TEXTS)
    former = None if against is None else _to_verify(against, arguments.path(kernel, "kernel"))
    with nullcontext() if scheduler is None else cluster(scheduler) as workers:
        submit = None if workers is None else workers.submit
        found = decide(
            _to_verify(kernel, former),
            arguments.path(contract, "contract"),
            told,
            against=former,
            choices=[str(choice) for choice in several(choices)],
            every=every,
            submit=submit,
            certified=certified,
        )
    report = verify_report.report(found, __version__)
    if counterexamples is None or found.counterexample is None:
        return report
    folder = Path(counterexamples)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{Path(kernel).stem}.json"
    path.write_text(json.dumps(found.counterexample.document(), indent=1) + "\n", encoding="utf-8")
    return report.saved_in(path)


def recheck(
    certificate: Path | str, *, kernel: Path | str | None = None, contract: Path | str | None = None
) -> Rechecked:
    """Recheck a certificate that `verify` made, without the engine.

    Parameters
    ----------
    certificate : Path or str
        The file.
    kernel, contract : Path or str, optional
        Files that it has to be of.

    Returns
    -------
    Rechecked
        ``open`` says what is not rechecked; empty where everything is.

    Raises
    ------
    InputError
        If a file can't be read, or is no certificate.
    RefusedError
        If the certificate is wrong.
    """
    from ..refinement.certificate.certificate_document import check_digest
    from ..refinement.recheck import document, rechecking

    read = document.read(Path(certificate))
    for name, path in (("kernel", kernel), ("contract", contract)):
        if path is not None:
            check_digest(read, name, Path(path))
    return rechecking.recheck(read)


def contract(
    kernel: Path | str,
    entry: str | None = None,
    *,
    from_triton: Path | str | None = None,
    source: Path | str | None = None,
) -> str:
    """Return the text of a contract to complete, from what a kernel's code tells.

    Parameters
    ----------
    kernel : Path or str
        The file.
    entry : str, optional
        The kernel, where the file has several.
    from_triton : Path or str, optional
        What Triton's cache keeps beside the PTX.
    source : Path or str, optional
        The CUDA source of PTX, which names the parameters; by default the kernel itself, where it is one.

    Raises
    ------
    InputError
        If a file can't be read, or has no such kernel.
    """
    from ..refinement.drafts.contracts import draft, read_triton_metadata
    from ..refinement.drafts.declared_parameters import declared_parameters
    from ..refinement.machine.front_end import read_outline

    metadata = None if from_triton is None else read_triton_metadata(Path(from_triton))
    path = _to_verify(kernel)
    outline = read_outline(path, entry)
    declared = declared_parameters(outline, path, Path(kernel if source is None else source))
    return draft(outline, metadata, declared)


def _to_verify(kernel: Path | str, apart_from: Path | None = None) -> Path:
    """Return the file of a kernel, compiled if it is a source, to another file than one that stays."""
    from .compiling import compiled, is_source

    path = arguments.path(kernel, "kernel")
    return compiled(path, apart_from=apart_from).path if is_source(path) else path


class NotVerifiedError(AssertionError):
    """A kernel is not verified.

    Parameters
    ----------
    report : VerifyReport
        What was found.
    """

    def __init__(self, report: VerifyReport) -> None:
        super().__init__(str(report))
        self.report = report


def assert_verified(
    kernel: Path | str,
    contract: Path | str,
    *,
    against: Path | str | None = None,
    choices: str | Sequence[str] = (),
    every: bool = True,
    allowed: Collection[str] = (),
) -> VerifyReport:
    """Verify a kernel, and fail unless it is verified (or safe, where the contract says nothing of values).

    Parameters
    ----------
    kernel, contract, against, choices, every
        As of `verify`.
    allowed : collection of str
        What else is let pass: ``undecided``, ``unsupported``. A refutation never is.

    Raises
    ------
    NotVerifiedError
        If it is not verified.
    InputError
        As of `verify`; or if something else is to be allowed.
    """
    from ..spec.errors import InputError

    __tracebackhide__ = True  # pytest shows the test, not this function
    if wrong := sorted(set(allowed) - {"undecided", "unsupported"}):
        raise InputError(f"allowed takes undecided and unsupported, not {', '.join(wrong)}")
    report = verify(kernel, contract, against=against, choices=choices, every=every)
    if report.result.verdict not in {"verified", "safe", *allowed}:
        raise NotVerifiedError(report)
    return report
