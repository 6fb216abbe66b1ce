"""AMD's dense matrix fused multiply-adds (MFMA): V_MFMA_* of CDNA3 and what other generations have of it."""
