"""What a kernel's text tells without running it: its launch, its parameters, its loops."""
