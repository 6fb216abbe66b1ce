"""What the Power ISA prints about MMA, written down again: nothing here knows the specification."""
