"""Modules of PyTorch against references: launches recorded without a GPU, and verified for all data."""

from .api.torch.assertion import ModuleNotVerifiedError, assert_verified
from .api.torch.outcome import TorchResult
from .api.torch.untrusted import Limits
from .api.torch.verification import verify

__all__ = ["Limits", "ModuleNotVerifiedError", "TorchResult", "assert_verified", "verify"]
