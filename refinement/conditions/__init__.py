"""Conditions: decision diagrams, conditions on scalars, and selects by them."""
