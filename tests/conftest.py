"""Settings of every test: properties are not timed (a loaded machine is no defect)."""

import os

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
if "CI" not in os.environ:  # there hypothesis' own profile is untimed and repeatable
    settings.load_profile("untimed")
