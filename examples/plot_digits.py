"""
Which pixels tell digits apart?
===============================

The features are the pixels of 8 x 8 images, so their scores form an image, too.
"""

# %%
# One call loads the data, and one ranks the features. The task is inferred from the target.
import matplotlib.pyplot as plt

import omnirank as om
from omnirank.plots import score_map

digits = om.datasets.load_sample("digits")
ranker = om.make_ranker("univariate").fit(digits)
print(ranker.task_)
print(ranker.ranking_.to_frame().head())

# %%
# The outer columns are nearly empty in every image, so they score low.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
score_map(ranker.ranking_, (8, 8), ax=left)
ranker.ranking_.plot(ax=right, k=12)
plt.show()

# %%
# How stable is the ranking on a tenth of the examples?
few = digits.split(0.1, random_state=0)[0]
agreement = om.compare_rankings(
    ranker.ranking_, om.make_ranker("univariate").fit(few).ranking_, k=20
)
print(f"Spearman {agreement.spearman:.2f}, Jaccard (top 20) {agreement.jaccard:.2f}")
