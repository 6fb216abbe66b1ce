"""The text of PTO modules: operands, calls, cores."""
