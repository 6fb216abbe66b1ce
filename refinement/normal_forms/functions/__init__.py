"""Real functions that libraries expand inline, recognised and proved."""
