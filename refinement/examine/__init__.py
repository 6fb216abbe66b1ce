"""Examination of a run: outputs compared, trials on numbers, counterexamples, diagnosis."""
