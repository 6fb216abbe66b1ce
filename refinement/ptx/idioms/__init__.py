"""Synchronisation idioms: locks, polls, updates by compare-and-swap."""
