"""The PTO kernels of the corpus, for each profile, as they are or with a fault."""

from __future__ import annotations

from pathlib import Path

from mmaproof.refinement.verification import Verification, verify

CORPUS = Path(__file__).parent / "kernels" / "pto"
KERNELS = sorted(path.stem for path in CORPUS.glob("*.pto"))
PROFILES = ("A2A3", "A5", "CPU")


def contract_of(name: str, profile: str | None = None, *, first_sizes: bool = False) -> str:
    """Return the contract of a kernel, for a profile; `first_sizes` leaves out all but the first sizes."""
    text = (CORPUS / f"{name}.toml").read_text(encoding="utf-8")
    if profile is not None:
        text = text.replace('isa = "pto"', f'isa = "pto"\nprofile = "{profile}"')
    if not first_sizes:
        return text
    sections = text.split("\n\n")
    sizes = [section for section in sections if section.startswith("[[sizes]]")]
    return "\n\n".join(section for section in sections if section not in sizes[1:])


def verified(folder: Path, text: str, contract: str) -> Verification:
    """Verify the text of a kernel against the text of a contract."""
    kernel, file = folder / "kernel.pto", folder / "contract.toml"
    kernel.write_text(text, encoding="utf-8")
    file.write_text(contract, encoding="utf-8")
    return verify(kernel, file)


def text_of(name: str, *replacements: tuple[str, str]) -> str:
    """Return the text of a kernel with some of it replaced, each piece of which is there."""
    text = (CORPUS / f"{name}.pto").read_text(encoding="utf-8")
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    return text


def line_of(text: str, piece: str) -> int:
    """Return the line in which a piece of text first is."""
    return text[: text.index(piece)].count("\n") + 1
