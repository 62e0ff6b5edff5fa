"""
Relief: how many neighbours, how many examples?
===============================================

Relief visits m examples and the k nearest neighbours of each. One pass also gives the rankings for all smaller m and k,
so the pictures below cost no more than the largest values.
"""

# %%
# One feature acts alone, two act only together (the quarter of the plane in which a point lies), and 17 are noise.
import matplotlib.pyplot as plt
import numpy as np

import omnirank as om

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(1000, 20))
y = (
    0.6 * X[:, 0]
    + np.where(X[:, 1] * X[:, 2] > 0, 1.0, 0.0)
    + 0.05 * rng.normal(size=1000)
)

ks = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 999]
ms = [10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000]
ranker = om.ReliefRanker(n_neighbors=ks, n_iterations=ms, random_state=0, n_jobs=2).fit(
    X, y
)
print(f"{len(ranker.checkpoints_)} rankings from one pass")

# %%
# Left: with a single neighbour, scores are noisy. With many, neighbours are no longer close, and the interaction
# disappears. Right: a few hundred examples suffice to separate the relevant features from noise (k = 15).
figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
at_k = np.array([ranker.checkpoints_[1000, k].scores for k in ks])
at_m = np.array([ranker.checkpoints_[m, 15].scores for m in ms])
for ax, where, scores in ((axes[0], ks, at_k), (axes[1], ms, at_m)):
    others = scores[:, 3:]
    ax.fill_between(
        where,
        others.min(axis=1),
        others.max(axis=1),
        color="0.85",
        label="x4 to x20: nothing",
    )
    ax.plot(where, scores[:, 0], "C0", label="x1: alone")
    ax.plot(where, scores[:, 1], "C1", label="x2: with x3")
    ax.plot(where, scores[:, 2], "C3--", label="x3: with x2")
    ax.axhline(0, color="0.5", linewidth=0.8)
    ax.set_xscale("log")
axes[0].set(xlabel="neighbours k (m = 1000)", ylabel="importance")
axes[1].set(xlabel="iterations m (k = 15)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()

# %%
# The whole plane: the smallest score of a relevant feature minus the largest of an irrelevant one, for every (m, k).
scores = np.array([[ranker.checkpoints_[m, k].scores for k in ks] for m in ms])
gap = scores[:, :, :3].min(axis=2) - scores[:, :, 3:].max(axis=2)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
limit = gap.max()
mesh = ax.pcolormesh(ks, ms, gap, cmap="RdBu", vmin=-limit, vmax=limit)
ax.set(xscale="log", yscale="log", xlabel="neighbours k", ylabel="iterations m")
ax.set_title("Are all relevant features on top?")
figure.colorbar(mesh, label="margin of the scores (blue: yes)", extend="min")
plt.show()
