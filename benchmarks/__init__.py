"""The speeds mmaproof promises, measured: ``python -m benchmarks`` from the repository's root."""
