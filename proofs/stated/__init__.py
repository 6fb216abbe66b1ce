"""What shared standards print, written down again: nothing here knows the specification."""
