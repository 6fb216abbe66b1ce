"""A run examined: outputs compared, trials on numbers, counterexamples, diagnosis."""
