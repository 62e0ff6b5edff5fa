"""Compiled loops that show what the machine can do at most: memory bandwidth and arithmetic."""

import numba

__all__ = ["FLOPS_PER_ELEMENT", "multiply_add", "triad"]

# Four chains of sixteen multiply-adds for every element, two operations each.
FLOPS_PER_ELEMENT = 4 * 16 * 2


@numba.njit(cache=True, nogil=True)
def triad(a, b, c, factor):
    """Stream: two reads and one write an element."""
    for i in range(a.shape[0]):
        a[i] = b[i] + factor * c[i]


# "contract" alone lets the compiler fuse multiply and add; it may not reorder or shorten the chains.
@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def multiply_add(x, factor, offset, rounds):
    """Multiply-adds on data that stays in the first-level cache; chains are independent of each other."""
    for _ in range(rounds):
        for i in range(x.shape[0]):
            p = x[i]
            q = p + offset
            r = q + offset
            s = r + offset
            for _ in range(16):
                p = p * factor + offset
                q = q * factor + offset
                r = r * factor + offset
                s = s * factor + offset
            x[i] = p + q + r + s
