"""Theorems about the verifier: the equations that it rewrites with, and the tables of its domains."""

FAMILIES = {
    "rules": ("rules",),
    "domains": ("domains",),
}
"""The modules that have the theorems ``engine/FAMILY/…``, in the order they are reported."""
