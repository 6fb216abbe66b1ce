"""What pyproject.toml cannot say: addresses, and a description with absolute links, from one field of it."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
REPOSITORY = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mmaproof"][
    "repository"
]


def description(text: str, repository: str) -> str:
    """Return a text of Markdown whose links to files are absolute; without a repository they are words."""

    def linked(match: re.Match[str]) -> str:
        words, target = match.groups()
        return f"[{words}]({repository}/blob/main/{target})" if repository else words

    return re.sub(r"\[([^\]]+)\]\((?![a-z]+:|#)([^)]+)\)", linked, text)


if __name__ == "__main__":
    setup(
        long_description=description((HERE / "README.md").read_text(encoding="utf-8"), REPOSITORY),
        long_description_content_type="text/markdown",
        project_urls={
            "Source": REPOSITORY,
            "Issues": f"{REPOSITORY}/issues",
            "Changelog": f"{REPOSITORY}/blob/main/CHANGELOG.md",
        }
        if REPOSITORY
        else {},
    )
