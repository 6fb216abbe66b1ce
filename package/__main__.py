"""``python -m mmaproof`` is the command ``mmaproof``."""

from .cli.entry import main

main()
