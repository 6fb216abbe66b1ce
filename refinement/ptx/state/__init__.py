"""The state of a run: state spaces, stores and their writers, words that threads wait for."""
