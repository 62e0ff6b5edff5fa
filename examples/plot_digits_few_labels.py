"""
Digits with 50 labels
=====================

Which pixels tell digits apart if only 50 of 1797 images are labelled? At the supervision level 1, rankings see these 50
images. Below 1 they see all images, and at 0 they need no label.
"""

# %%
# The labels to keep are drawn ten times, to see how much the rankings vary.
import matplotlib.pyplot as plt
import numpy as np

import omnirank as om

digits = om.datasets.load_sample("digits")
levels = (1.0, 0.5, 0.0)
scores = {w: [] for w in levels}
for seed in range(10):
    few = digits.keep_labels(50, random_state=seed)
    for w in levels:
        ranking = (
            om.EnsembleRanker(n_trees=30, supervision=w, random_state=seed, n_jobs=-1)
            .fit(few)
            .ranking_
        )
        scores[w].append(ranking.scores / ranking.scores.sum())

# %%
# Mean scores (above) and their standard deviations over the draws (below). With fifty labels alone, rankings differ a
# lot from draw to draw. If the features count, too, rankings are steadier.
figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
largest = max(np.max(np.mean(found, axis=0)) for found in scores.values())
for column, w in enumerate(levels):
    for row, (name, statistic) in enumerate(
        (("mean", np.mean), ("standard deviation", np.std))
    ):
        image = axes[row, column].imshow(
            statistic(scores[w], axis=0).reshape(8, 8), vmin=0, vmax=largest
        )
        axes[row, column].set(title=f"w = {w:g}: {name}", xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="share of the summed scores")
plt.show()

# %%
# How much do rankings of two draws agree with each other, and with the ranking by all labels?
reference = (
    om.EnsembleRanker(n_trees=100, random_state=0, n_jobs=-1).fit(digits).ranking_.scores
)


def rank_correlation(one, other):
    """Spearman's correlation."""
    return np.corrcoef(np.argsort(np.argsort(one)), np.argsort(np.argsort(other)))[0, 1]


for w, found in scores.items():
    between = np.mean(
        [rank_correlation(found[i], found[j]) for i in range(10) for j in range(i)]
    )
    to_all = np.mean([rank_correlation(one, reference) for one in found])
    print(f"w = {w:g}: between draws {between:.2f}, with all labels {to_all:.2f}")

# %%
# By default, cross-validation on the labelled examples chooses the level.
ranker = om.EnsembleRanker(n_trees=30, random_state=0, n_jobs=-1).fit(
    digits.keep_labels(50, random_state=0)
)
print(f"supervision {ranker.supervision_:g}: {ranker.supervision_reason_}")
print(ranker.supervision_curve_)
