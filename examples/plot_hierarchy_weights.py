"""
Weights of the labels in a hierarchy
====================================

Few examples have a label far down in a hierarchy, and a mistake there matters less than one near the top. So the weight
of a label is the mean weight of its parents, times a factor below 1.
"""

# %%
# Functions of genes, as a directed acyclic graph: a label may have several parents.
import matplotlib.pyplot as plt

import omnirank as om

hierarchy = om.Hierarchy.from_edges(
    [
        ("metabolism", "energy"),
        ("metabolism", "transport"),
        ("cell", "transport"),
        ("cell", "membrane"),
        ("transport", "ion transport"),
        ("membrane", "ion transport"),
        ("ion transport", "proton pump"),
    ]
)
print(hierarchy)

# %%
# The factor is a parameter. At 1, all labels have the same weight.
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
order = hierarchy.topological_order
names = [hierarchy.labels[i] for i in order]
for factor in (1.0, 0.75, 0.5):
    axes.plot(
        names, hierarchy.weights(factor)[order], marker="o", label=f"factor {factor:g}"
    )
axes.set_ylim(0, 1.05)
axes.set_ylabel("weight")
axes.tick_params(axis="x", rotation=30)
axes.legend(frameon=False)
plt.show()

# %%
# Label sets are closed: a gene that pumps protons also transports ions, and has all labels above.
closed = hierarchy.close([[label == "proton pump" for label in hierarchy.labels]])
print([label for label, held in zip(hierarchy.labels, closed[0], strict=True) if held])
