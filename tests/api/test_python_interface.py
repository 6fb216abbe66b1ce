"""What ``import mmaproof`` offers: the functions of the command line, with its answers as objects."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof as command
from cuda_contracts import CORPUS
from gate_tables import EXAMPLES as TABLES

import mmaproof
from mmaproof.reports.report import Conclusion

KERNEL, CONTRACT = CORPUS / "mma_s4_sm80.ptx", CORPUS / "mma_s4.toml"
PRODUCT = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def test_every_name_is_listed_and_there() -> None:
    assert set(dir(mmaproof)) == set(mmaproof.__all__)
    for name in mmaproof.__all__:
        assert getattr(mmaproof, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'prove'"):
        _ = mmaproof.prove


@pytest.mark.parametrize("name", [name for name in mmaproof.__all__ if name != "triton"])
def test_every_function_is_described(name: str) -> None:
    found = getattr(mmaproof, name)
    if inspect.isfunction(found):
        assert found.__doc__ and "Raises\n" in found.__doc__
        parameters = inspect.signature(found).parameters
        assert (
            len(parameters) == 1
            or [parameter for parameter in parameters if parameter not in found.__doc__] == []
        )


def test_importing_it_imports_nothing_else() -> None:
    script = (
        "import sys, mmaproof; print([name for name in sys.modules if 'mmaproof' in name or name == 'numpy'])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert printed.stdout == "['mmaproof.version', 'mmaproof']\n"


def test_the_catalogue_is_proved() -> None:
    report = mmaproof.check(["power/integers/order"], jobs=1)
    assert report.holds and report.conclusion is Conclusion.HOLDS
    assert {outcome.verdict.status.value for outcome in report.run.outcomes} == {"proved", "refuted"}
    assert "srcdoc" in report._repr_html_()
    with pytest.raises(mmaproof.InputError, match="no obligation matches"):
        mmaproof.check("no/such")


def test_a_kernel_is_verified_and_a_faulty_one_is_not(tmp_path: Path) -> None:
    report = mmaproof.assert_verified(KERNEL, CONTRACT)
    assert (report.result.verdict, report.holds) == ("verified", True)
    document = json.loads(command("verify", KERNEL, "--contract", CONTRACT, "--json", "-").out)
    assert {name: document[name] for name in ("verdict", "equality", "outputs")} == {
        name: report.document()[name] for name in ("verdict", "equality", "outputs")
    }
    faulty = tmp_path / "faulty.ptx"
    faulty.write_text(KERNEL.read_text().replace("{%r96, %r97,", "{%r97, %r96,"))
    with pytest.raises(mmaproof.NotVerifiedError, match="wrong-value: C") as raised:
        mmaproof.assert_verified(faulty, CONTRACT, allowed=["undecided"])
    assert raised.value.report.result.counterexample is None
    saved = mmaproof.verify(faulty, CONTRACT, counterexamples=tmp_path / "saved").result.counterexample
    assert saved is not None and command("replay", saved).status == 1


def test_a_refutation_can_not_be_allowed() -> None:
    with pytest.raises(mmaproof.InputError, match="not refuted"):
        mmaproof.assert_verified(KERNEL, CONTRACT, allowed=["refuted"])


def test_a_contract_is_drafted() -> None:
    assert mmaproof.contract(KERNEL) == command("contract", KERNEL).out.removesuffix("\n") + "\n"


def test_instructions_are_judged_laid_out_and_explained() -> None:
    assert mmaproof.legal(PRODUCT, "sm_80").legal
    assert not mmaproof.legal(PRODUCT, "sm_70").legal
    answer = mmaproof.layout(PRODUCT, "c")
    assert answer.at(3, 5).rows() == [row for row in answer.rows() if (row["row"], row["column"]) == (3, 5)]
    assert answer._repr_svg_().startswith("<svg")
    assert "<h4>illegal on power10</h4>" in mmaproof.legal("xvi8ger4pp a1,vs5,vs34")._repr_html_()
    assert str(mmaproof.explain("race")).startswith("finding race of verify\n\nMeaning\n  two threads")


def test_an_instruction_is_executed() -> None:
    results = mmaproof.run("xvf32ger", {"x": np.ones((4, 1), np.float32), "y": [[1.0], [2.0], [3.0], [4.0]]})
    assert results["acc"].tolist() == [[1.0, 2.0, 3.0, 4.0]] * 4
    trace = mmaproof.trace(
        "xvf32gerpp", "acc[1,0]", {"x": [[1.0]] * 4, "y": [[1.0]] * 4, "acc": [[1.0] * 4] * 4}
    )
    assert "<h4>acc[1,0] of xvf32gerpp</h4>" in trace._repr_html_() and "<table>" in trace._repr_html_()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mmaproof.legal("xvf32ger", 5), "target must be a str, not 5"),
        (lambda: mmaproof.legal("mma", ptx=7.0), "ptx must be a str, not 7.0"),
        (lambda: mmaproof.legal("mma", registers=["%r1:b32"]), "registers must be a str"),
        (lambda: mmaproof.layout("xvf32ger", None), "operand must be a str, not None"),
        (lambda: mmaproof.layout("xvf32ger", "acc", 10), "target must be a str, not 10"),
        (lambda: mmaproof.run("xvf32ger", {"x": [[1.0], [2.0, 3.0]], "y": [[1.0]] * 4}), "x is no array"),
        (
            lambda: mmaproof.run("xvf32ger", None),
            "operands must be a mapping of names to arrays, not NoneType",
        ),
        (lambda: mmaproof.trace("xvf32ger", 3, {}), "element must be a str, not 3"),
        (lambda: mmaproof.compiled("missing.cu"), "missing.cu: can't be read: no such file"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(mmaproof.InputError, match=message):
        call()


def test_tables_are_compared() -> None:
    one = TABLES / "power_mma.csv"
    for given in ((one,), (str(one),), ([one],), ((str(one), one), one)):
        assert mmaproof.gate(*given).holds
    report = mmaproof.gate(TABLES / "dsl_targets_wrong.json")
    assert [finding.causes[0].id for finding in report.findings] and report.conclusion is Conclusion.FAILS
    table = TABLES / "mma_verifier.csv"
    assert mmaproof.gate(table, columns={"arch": "target"}, ptx="7.1").holds
