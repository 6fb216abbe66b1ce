"""NVIDIA PTX warp-level matrix instructions: wmma, mma, mma.sp, ldmatrix, stmatrix, movmatrix."""
