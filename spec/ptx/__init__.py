"""NVIDIA PTX matrix instructions: wmma, mma, mma.sp, ldmatrix, stmatrix, movmatrix, wgmma."""
