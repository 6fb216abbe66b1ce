"""What OpenBLAS's inner kernels of products for POWER10 compute: C += alpha * A * B of packed panels."""

import numpy as np


def panels(rows, widest):
    """Yield first row and width of each panel: as many of the widest as fit, then of half that, and so on."""
    first, width = 0, widest
    while first < rows:
        while width > rows - first:
            width //= 2
        yield first, width
        first += width


def unpacked(flat, rows, k, widest, paired=False):
    """Return (rows, k): a panel has k groups of a number for each row; of bf16, pairs of k side by side."""
    found = [None] * rows
    at = 0
    for first, width in panels(rows, widest):
        panel = flat[at : at + width * k]
        even = k // 2 * 2
        for row in range(width):
            if paired and width != 2:
                pairs = panel[: width * even].reshape(even // 2, width, 2)[:, row, :].reshape(-1)
                last = panel[width * even + row : width * even + row + k % 2]
                found[first + row] = np.concatenate([pairs, last]) if k % 2 else pairs
            else:
                found[first + row] = panel.reshape(k, width)[:, row]
        at += width * k
    return np.stack(found)


def dgemm(m, n, k, alpha, A, B, C, ldc):
    """Of panels of 8 rows and 8 columns."""
    return {"C": C + alpha * (unpacked(B, n, k, 8) @ unpacked(A, m, k, 8).T)}


def sgemm(m, n, k, alpha, A, B, C, ldc):
    """Of panels of 16 rows and 8 columns."""
    return {"C": C + alpha * (unpacked(B, n, k, 8) @ unpacked(A, m, k, 16).T)}


def sbgemm(m, n, k, alpha, A, B, C, ldc):
    """Of panels of 16 rows and 8 columns of bf16."""
    return {"C": C + alpha * (unpacked(B, n, k, 8, True) @ unpacked(A, m, k, 16, True).T)}
