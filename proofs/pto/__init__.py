"""Theorems about PTO's tile instructions."""
