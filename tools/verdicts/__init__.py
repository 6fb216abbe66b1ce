"""The verdicts of every kernel of the corpora, frozen in a table: ``python -m tools.verdicts``."""
