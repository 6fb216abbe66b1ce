"""What AMD's manual and assembler say of MFMA, written down again: nothing here knows the specification."""
