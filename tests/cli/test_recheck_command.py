"""``verify --certificate`` and ``recheck``: what is written, what is printed, and how they end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from command_line import mmaproof
from row_contracts import contract as row_contract

REPOSITORY = Path(__file__).parents[2]
KERNEL = REPOSITORY / "tests" / "kernels" / "triton_rows" / "rms_norm.ptx"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a contract and two forms of the same certificate."""
    found = tmp_path_factory.mktemp("certificates")
    contract = found / "rms_norm.toml"
    contract.write_text(row_contract(KERNEL.name, {"M": 2, "N": 64}), encoding="utf-8")
    verified = mmaproof(
        "verify", KERNEL, "--contract", contract, "--explain",
        "--certificate", found / "c.json.gz", "--json", found / "result.json",
    )  # fmt: skip
    assert verified.status == 0
    assert "elementary/reciprocal-root: rsqrt(x) = sqrt(x) * rcp(x) if (x > 0)" in verified.out
    rows = json.loads((found / "result.json").read_text(encoding="utf-8"))["stats"]["rows"]
    assert rows["elementary/reciprocal-root"] == 2
    (found / "c.json").write_bytes(gzip.decompress((found / "c.json.gz").read_bytes()))
    return found


@pytest.mark.parametrize("name", ["c.json", "c.json.gz"])
def test_a_certificate_is_rechecked_but_for_what_is_named(folder: Path, name: str) -> None:
    found = mmaproof("recheck", folder / name, "--kernel", KERNEL, "--contract", folder / "rms_norm.toml")
    assert found.status == 3
    assert "128 elements: equal over the reals" in found.out
    assert "rechecked except: the bound on roundings of what is equal over the reals" in found.out


def test_a_certificate_of_another_file_is_refused(folder: Path) -> None:
    found = mmaproof("recheck", folder / "c.json", "--kernel", folder / "rms_norm.toml")
    assert found.status == 1
    assert found.out.startswith("refused: the certificate is not of the kernel")


def test_a_changed_certificate_is_refused(folder: Path, tmp_path: Path) -> None:
    whole = json.loads((folder / "c.json").read_text(encoding="utf-8"))
    whole["sections"][0]["equations"][0]["elements"][0][2] = 0
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(whole), encoding="utf-8")
    found = mmaproof("recheck", changed)
    assert found.status == 1
    assert found.out == "refused: Y[0] is not reals\n"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"certificate": 2}'])
def test_what_is_no_certificate_is_wrong_use(text: str, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text(text, encoding="utf-8")
    assert mmaproof("recheck", path).wrong_use


@pytest.mark.parametrize(
    "text", ['{"certificate": 1}', '{"certificate": 1, "sections": 3, "open": [], "equality": "bits"}']
)
def test_what_lacks_parts_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    path.write_text(text, encoding="utf-8")
    assert mmaproof("recheck", path).status == 1


def test_a_kernel_that_is_refuted_has_no_certificate(folder: Path, tmp_path: Path) -> None:
    kernel = KERNEL.with_name("rms_norm_fault_epsilon_outside.ptx")
    if not kernel.exists():
        kernel = next(KERNEL.parent.glob("rms_norm_fault_*.ptx"))
    contract = tmp_path / "contract.toml"
    contract.write_text(row_contract(kernel.name), encoding="utf-8")
    target = tmp_path / "c.json"
    found = mmaproof(
        "verify", kernel, "--contract", contract, "--certificate", target,
        "--counterexamples", tmp_path / "found",
    )  # fmt: skip
    assert found.status == 1 and "no certificate is written" in found.out + found.err
    assert not target.exists()
