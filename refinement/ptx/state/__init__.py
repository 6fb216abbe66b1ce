"""The state of a run: state spaces, what was stored and by whom, words by which threads wait."""
