"""Conditions: decision diagrams, conditions on scalars, and what they choose."""
