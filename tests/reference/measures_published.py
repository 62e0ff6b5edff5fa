"""Performances on data sets as published, to recompute the statistics drawn from them."""

from __future__ import annotations

import io

import pandas as pd

# No target: error of one nearest neighbour on the 16 best features.
_TABLE = """
dataset Genie3 RForest URelief Laplace SPEC MCFS NDFS AgnoS-S
ALLAML 1.15 1.14 1.11 1.16 1.15 1.16 1.15 1.22
arcene 40.9 40.79 51.3 42.4 76.2 42.4 42.4 80.6
BASEHOCK 0.17 0.18 0.18 0.18 0.18 0.18 0.18 0.16
Carcinom 0.33 0.34 0.33 0.36 0.36 0.35 0.36 0.36
CLL-SUB-111 1726 2449 1823 1735 2350 2429 1744 2374
COIL20 0.12 0.10 0.11 0.16 0.23 0.28 0.09 0.18
colon 1.43 1.42 1.49 1.50 1.50 1.50 1.50 1.49
gisette 269 275 278 291 315 291 291 304
GLI-85 1516 1508 1759 1521 1783 1558 1655 1712
GLIOMA 0.23 0.24 0.23 0.24 0.27 0.23 0.24 0.27
Isolet 0.37 0.36 0.48 0.37 0.45 0.42 0.38 0.36
leukemia 1.84 1.87 1.83 1.91 1.90 1.91 1.91 1.94
lung 0.29 0.29 0.29 0.30 0.33 0.29 0.31 0.31
lymphoma 1.73 1.87 1.81 2.01 2.01 2.01 2.01 1.85
madelon 31.79 33.61 31.83 33.62 33.62 33.62 33.62 34.61
nci9 1.62 1.66 1.64 1.60 1.66 1.60 1.60 1.76
ORL 24.98 34.20 27.60 34.19 34.19 34.19 34.19 23.19
PCMAC 0.18 0.19 0.19 0.16 0.18 0.18 0.19 0.16
pixraw10P 6.65 6.19 7.93 9.30 8.48 9.30 9.30 6.48
Prostate-GE 0.22 0.21 0.23 0.22 0.30 0.23 0.22 0.24
RELATHE 0.22 0.23 0.22 0.23 0.24 0.23 0.23 0.32
SMK-CAN-187 0.34 0.34 0.35 0.35 0.34 0.35 0.35 0.38
TOX-171 206 217 212 207 221 237 219 209
USPS 0.33 0.48 0.35 0.33 0.38 0.40 0.29 0.34
warpPIE10P 16.97 22.30 16.45 30.28 30.28 30.28 30.28 15.30
Yale 46.77 51.80 51.29 56.76 56.76 56.76 56.76 42.73
"""

UNSUPERVISED = pd.read_csv(io.StringIO(_TABLE.strip()), sep=" ", index_col=0)
