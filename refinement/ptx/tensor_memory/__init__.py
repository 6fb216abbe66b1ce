"""Blackwell's tensor memory: its cells, who uses them when, and the instructions that do (``tcgen05``)."""
