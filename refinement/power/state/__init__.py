"""The state of a Power machine: registers, storage, words, and paths of branches on data."""
