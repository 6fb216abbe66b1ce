"""What the PTX ISA prints, written down again: nothing here knows the specification."""
