"""Rounding errors: bounds on given inputs, bounds for all inputs, and exact errors."""
