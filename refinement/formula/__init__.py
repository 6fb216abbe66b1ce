"""The language of formulas: its grammar, its trees, and names for parts."""
