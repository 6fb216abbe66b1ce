"""The theorems on Power MMA."""
