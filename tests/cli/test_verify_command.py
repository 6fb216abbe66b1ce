"""``mmaproof verify``: verdicts, exit statuses, documents, the page, and counterexamples that replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import mmaproof
from cuda_contracts import CORPUS as CUDA
from cuda_contracts import for_every_k
from document_schemas import validate
from html_pages import Page
from triton_contracts import CORPUS, KERNELS, contract

from mmaproof.cli.budget import activity
from mmaproof.spec.errors import OutOfBudget

RIGHT = "gemm_f16_f32_f32_32x32x32_s1_sm80.ptx"
SHORT = "gemm_f16_f32_f32_32x64x32_s2_sm80_fault_k_loop_short.ptx"
WHOLE = "gemm_s8_s32_s32_32x32x32_s1_ragged_sm80.ptx"


@pytest.fixture(autouse=True)
def _not_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return tmp_path / "gemm.toml"


def run(name: str, written: Path, *more: object, edit: tuple[str, str] = ("", "")) -> object:
    written.write_text(contract(KERNELS[name]).replace(*edit), encoding="utf-8")
    saved = written.parent / "saved"
    return mmaproof("verify", CORPUS / name, "--contract", written, "--counterexamples", saved, *more)


def test_a_correct_kernel(written: Path) -> None:
    documents = written.with_suffix(".json"), written.with_suffix(".html")
    found = run(RIGHT, written, "--json", documents[0], "--html", documents[1])
    assert (found.status, found.err) == (0, "")
    assert found.out.startswith(f"verified (value): {CORPUS / RIGHT} computes C as {written} says\n")
    assert "|computed - exact| ≤ ((1 + 8·2^-24 + 2^-23)^16 - 1)·S" in found.out  # on Ampere, the worst
    hopper = run(RIGHT, written, "--choice", "hopper")
    assert "|computed - exact| ≤ ((1 + 16·2^-25 + 2^-23)^8 - 1)·S" in hopper.out
    unknown = run(RIGHT, written, "--choice", "hoper")
    assert (unknown.status, unknown.err.count("\n")) == (2, 1)
    document = json.loads(documents[0].read_text(encoding="utf-8"))
    validate("verify", document)
    assert (document["verdict"], document["equality"], document["findings"]) == ("verified", "value", [])
    page = documents[1].read_text(encoding="utf-8")
    assert '<rect class="right"' in page and '<rect class="wrong"' not in page
    assert "sum(k, A[i, k] * B[k, j])" in Page(page).text
    assert not (written.parent / "saved").exists()


def test_integers_are_verified_as_bits(written: Path) -> None:
    found = run(WHOLE, written)
    assert found.status == 0
    assert "verified (bits)" in found.out and "computed" not in found.out


def test_a_wrong_kernel_comes_with_a_counterexample_that_replays(written: Path) -> None:
    documents = written.with_suffix(".json"), written.with_suffix(".html")
    found = run(SHORT, written, "--json", documents[0], "--html", documents[1])
    assert found.status == 1
    assert found.out.startswith(f"refuted: {CORPUS / SHORT} does not compute C as {written} says\n")
    assert "lacks A[0," in found.out
    document = json.loads(documents[0].read_text(encoding="utf-8"))
    validate("verify", document)
    assert document["verdict"] == "refuted" and document["equality"] is None
    assert {finding["kind"] for finding in document["findings"]} == {"wrong-value"}
    assert all(finding["line"] and finding["output"] for finding in document["findings"])
    page = documents[1].read_text(encoding="utf-8")
    assert '<rect class="wrong"' in page
    assert "wrong-value" in Page(page).text
    saved = Path(document["counterexample"])
    validate("kernel-counterexample", json.loads(saved.read_text(encoding="utf-8")))
    again = mmaproof("replay", saved)
    assert again.status == 1
    assert f" in {CORPUS / SHORT}, where {written} gives " in again.out
    assert "  A: f16[64, 128]: A[0," in again.out and "  A: f16[64, 128]: A[0," in found.out
    document = json.loads(saved.read_text(encoding="utf-8"))
    written.write_text(contract(KERNELS[RIGHT], document["sizes"]), encoding="utf-8")
    saved.write_text(json.dumps(document | {"kernel": str(CORPUS / RIGHT)}), encoding="utf-8")
    assert mmaproof("replay", saved).status == 0  # a correct kernel on the same inputs
    written.write_text(contract(KERNELS[RIGHT]).replace("f16", "bf16"), encoding="utf-8")
    assert mmaproof("replay", saved).wrong_use  # the contract has changed


def test_bits_can_be_demanded(written: Path) -> None:
    found = run(RIGHT, written, edit=("[ensures]\n", '[ensures]\nequality = "bits"\n'))
    assert found.status == 3
    assert "undecided" in found.out


def test_what_is_not_modelled_is_said_with_its_line(written: Path) -> None:
    text = (CORPUS / RIGHT).read_text(encoding="utf-8")
    barrier = text.index("bar.sync")
    kernel = written.with_suffix(".ptx")
    kernel.write_text(f"{text[:barrier]}vadd.s32.s32.s32 %r1, %r1, %r1;\n{text[barrier:]}", encoding="utf-8")
    written.write_text(contract(KERNELS[RIGHT]), encoding="utf-8")
    found = mmaproof("verify", kernel, "--contract", written)
    assert found.status == 3
    assert f"gemm.ptx:{text[:barrier].count(chr(10)) + 1}): unsupported" in found.out
    assert "unsupported: " in found.out.splitlines()[-2]


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (('isa = "ptx"', 'isa = "avr"'), "avr"),
        (('isa = "ptx"', 'isa = "power"'), "power"),
        (('entry = "gemm"', 'entry = "gemv"'), "gemv"),
        (("grid = ", "grids = "), "grids"),
        (("block = 128", "block = 96"), "128"),
        (('name = "global_scratch"\ntype = "u64"\nvalue = 0\n[[param]]\n', ""), "11 arguments"),
        (("sum(k,", "sum(k"), "gemm.toml:"),
        (("A[i, k]", "A[i, j, k]"), "gemm.toml:"),
        (('type = "f16"', 'type = "f17"'), "f17"),
    ],
)
def test_a_contract_that_does_not_suit_is_one_clear_line(
    written: Path, edit: tuple[str, str], named: str
) -> None:
    assert edit[0] in contract(KERNELS[RIGHT])
    found = run(RIGHT, written, edit=edit)
    assert found.wrong_use or (found.status == 3 and edit[1] == 'isa = "power"')
    assert named in found.err
    assert found.err.count("\n") == 1


@pytest.mark.parametrize("missing", ["kernel", "contract"])
def test_files_that_are_not_there(written: Path, missing: str) -> None:
    written.write_text(contract(KERNELS[RIGHT]), encoding="utf-8")
    kernel = written.parent / "none.ptx" if missing == "kernel" else CORPUS / RIGHT
    other = written.parent / "none.toml" if missing == "contract" else written
    found = mmaproof("verify", kernel, "--contract", other)
    assert found.wrong_use and "none." in found.err


def test_a_kernel_out_of_time_is_undecided_with_what_was_being_done(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = written.with_suffix(".json")
    xml = written.with_suffix(".xml")

    def ends(*_: object, **__: object) -> None:
        raise OutOfBudget(f"timeout after 2 s while {activity()}")

    monkeypatch.setattr("mmaproof.refinement.examine.output_comparison.compare_unrefuted", ends)
    found = run(RIGHT, written, "--json", document, "--junit", xml)
    assert (found.status, found.err) == (3, "")
    result = json.loads(document.read_text(encoding="utf-8"))
    validate("verify", result)
    assert (result["verdict"], result["equality"]) == ("undecided", None)
    (finding,) = result["findings"]
    assert finding["kind"] == "undecided"
    assert finding["message"].startswith("timeout after 2 s while comparing")
    assert "<skipped" in xml.read_text(encoding="utf-8")


@pytest.mark.parametrize(("reason", "said"), [(MemoryError, "out of memory"), (RecursionError, "nested")])
def test_a_kernel_out_of_memory_is_undecided(
    written: Path, monkeypatch: pytest.MonkeyPatch, reason: type[Exception], said: str
) -> None:
    def raises(*_: object, **__: object) -> None:
        raise reason

    monkeypatch.setattr("mmaproof.refinement.examine.output_comparison.compare_unrefuted", raises)
    document = written.with_suffix(".json")
    assert run(RIGHT, written, "--json", document).status == 3
    result = json.loads(document.read_text(encoding="utf-8"))
    assert result["verdict"] == "undecided" and said in result["findings"][0]["message"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("any multiple of 16", "any >= 5 up to 3"), "which is empty"),
        (("[16, 16]", '["K", 16]'), "a kernel is compiled for one block"),
        (("[16, 16]", '"any"'), "unknown name any"),
        (('shape = ["M", "K"]', 'shape = ["M", "K % 7"]'), "must be a polynomial of K"),
    ],
)
def test_sizes_that_no_launch_can_have_are_refused_in_one_line(
    edit: tuple[str, str], message: str, written: Path
) -> None:
    text = for_every_k("simt_f32")
    assert edit[0] in text
    written.write_text(text.replace(*edit), encoding="utf-8")
    found = mmaproof("verify", CUDA / "simt_f32_sm80.ptx", "--contract", written)
    assert (found.status, found.out, found.err.count("\n")) == (2, "", 1)
    assert message in found.err


def test_a_size_at_which_nothing_is_launched_is_a_finding(written: Path) -> None:
    text = for_every_k("simt_f32").replace("(M + 15) // 16", "2 - K // 16")
    written.write_text(text, encoding="utf-8")
    found = mmaproof("verify", CUDA / "simt_f32_sm80.ptx", "--contract", written)
    assert found.status == 1
    said = "a grid of 1 x 0 x 1 blocks launches nothing at M = 16, N = 16, K = 32"
    assert said in " ".join(found.out.split())


def test_the_parts_of_a_proof_for_all_sizes_are_explained(written: Path) -> None:
    written.write_text(for_every_k("simt_f32", " up to 65536"), encoding="utf-8")
    kernel = CUDA / "simt_f32_sm80.ptx"
    document = written.parent / "result.json"
    found = mmaproof("verify", kernel, "--contract", written, "--explain", "--json", document)
    lines = [line for line in found.out.splitlines() if line.startswith("proved in ")]
    parts = json.loads(document.read_text(encoding="utf-8"))["stats"]["obligations"]
    named = [f"{part['obligation']}: {part['statement']}" for part in parts]
    assert [line.split(", ", 1)[1].rpartition(" (")[0] for line in lines] == named
    assert [part["obligation"] for part in parts] == ["K: base", "K: step", "K: exit", "K: sums"]
    heads = {kernel.read_text(encoding="utf-8").splitlines()[part["line"] - 2] for part in parts}
    assert heads == {"$L__BB0_2:"}, "a loop begins behind its label"
    assert "verified separately: M = 16, N = 16, K = 16" in found.out


def test_where_nothing_is_shown_for_all_sizes_there_is_nothing_to_explain(written: Path) -> None:
    written.write_text(contract(KERNELS[RIGHT]), encoding="utf-8")
    found = mmaproof("verify", CORPUS / RIGHT, "--contract", written, "--explain")
    assert found.status == 0 and "only the listed sizes are verified" in found.out
