"""PyTorch modules: launches recorded without a GPU, and compared with a reference for all data."""
