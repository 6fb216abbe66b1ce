"""``python -m mmaproof`` is the command ``mmaproof``."""

from .cli.app import main

main()
