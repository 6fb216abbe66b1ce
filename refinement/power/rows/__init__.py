"""Semantics of Power instructions."""
