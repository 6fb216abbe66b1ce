"""What belongs to the instruction set without being modelled, and what no target has: llvm-mc 19."""

from __future__ import annotations

UNMODELLED = (
    "v_smfmac_f32_16x16x32_f16",
    "v_smfmac_f32_32x32x16_bf16",
    "v_mfma_scale_f32_16x16x128_f8f6f4",
    "v_mfma_ld_scale_b32",
    "v_mfma_f32_16x16x128_f8f6f4",
    "v_accvgpr_read_b32",
    "v_accvgpr_write_b32",
)
"""What belongs to the instruction set, and is no dense product with fixed types."""

UNKNOWN = ("v_mfma_f32_32x32x9_f16", "v_mfma_f32", "v_fma_f32", "v_mfma_f16_32x32x8_f16")
"""What no target has."""
