"""
A tree for label sets, to be read
=================================

One tree predicts all labels of a set at once. After pruning, it is small enough to read.
"""

# %%
# Label sets that depend on a few of the features.
import matplotlib.pyplot as plt

import omnirank as om

data, truth = om.datasets.make_multi_label(400, random_state=0)
train, test = data.split(random_state=0)
print(train)

# %%
# The tree, pruned by M5. A leaf shows the labels that at least half of its examples have.
tree = om.PCTClassifier(random_state=0).fit(train)
print(om.export_text(tree, max_depth=3))

# %%
# The pruned tree is smaller, the forest more accurate.
sizes, errors = [], []
for pruning in (None, 0.5, 1, 2, 4):
    model = om.PCTClassifier(pruning=pruning, random_state=0).fit(train)
    sizes.append(model.tree_.n_nodes)
    errors.append((model.predict(test) != test.y).mean())
forest = om.PCTForestClassifier(n_trees=100, random_state=0).fit(train)
best = (forest.predict(test) != test.y).mean()

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.plot(sizes, errors, marker="o", label="one tree, more or less pruned")
axes.axhline(best, linestyle="--", color="black", label="100 trees")
axes.set(xlabel="nodes", ylabel="Hamming loss on new examples", xscale="log")
axes.legend()
plt.show()
