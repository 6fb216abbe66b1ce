"""Idioms that are more than their instructions: locks, polls, updates by compare-and-swap."""
