"""Scaled dot-product attention as PyTorch defines it: scores are scaled once.

PyTorch's decomposition scales queries and keys by a root each, whose product rounds otherwise.
"""

from __future__ import annotations

from math import inf
from typing import Any

import torch


def attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Return what `torch.nn.functional.scaled_dot_product_attention` gives of tensors of f32."""
    if query.dtype != torch.float32 or dropout_p or enable_gqa:
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if attn_mask is not None:
        is_truth = attn_mask.dtype == torch.bool
        scores = torch.where(attn_mask, scores, -inf) if is_truth else scores + attn_mask
    return torch.ops.aten._safe_softmax(scores, -1) @ value
