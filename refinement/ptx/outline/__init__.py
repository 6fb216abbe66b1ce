"""Static outline of a kernel's text: its launch, its parameters, its loops."""
