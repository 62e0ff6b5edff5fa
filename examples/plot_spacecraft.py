"""
Heaters of a spacecraft
=======================

Which events on board switch on a heater? What changes with the operating regime? The example follows a study of Mars
Express with its 33 heater lines. The spacecraft is generated, so the true answers are known.
"""

# %%
# Raw data have different time stamps: angles to the Sun and currents every two minutes, commands at single moments,
# pointings and eclipses from one time to another. On a grid of half an hour they become a table with four groups of
# features and 33 targets. Half-way, the regime changes: ``heater11`` is switched on, ``heater29`` and ``heater30``
# depend on eclipses instead of the energy that falls on a surface.
import matplotlib.pyplot as plt
import numpy as np
from spacecraft import make_spacecraft  # beside this script

import omnirank as om
from omnirank.plots import plot_fuji

craft = make_spacecraft(60)
table = craft.learning_table("30min")
print(table)
print(craft.drivers.query("before != after"))

# %%
# The first part is for training, the last for testing, with a day between them: neighbours in time are alike.
day = np.timedelta64(1, "D")
train, test = table.split(craft.change - 8 * day, gap="1D", until=craft.change)
before, after = table.split(craft.change, gap="1D")
groups = before.feature_groups
lines = before.target_names
print(len(train), len(test), len(after))

# %%
# Global against per-target forests
# ---------------------------------
#
# One forest predicts all lines, or there is one forest per line. Errors are root mean squared errors over all lines, in
# the regime of the training data and in the other one. Here, lines depend on different commands and surfaces, so one
# forest per line is better. For the flight of Mars Express without gyroscopes, one global forest was as good as 33.
options = {
    "n_trees": 20,
    "max_features": 0.25,
    "min_samples_leaf": 5,
    "random_state": 0,
    "n_jobs": -1,
}
globally = om.PCTForestRegressor(**options).fit(train)
predictions = {"global": [globally.predict(part) for part in (test, after)]}
local = [[] for _ in range(2)]
for j in range(len(lines)):
    if np.ptp(train.y[:, j]) > 0:
        forest = om.PCTForestRegressor(**options).fit(train.X, train.y[:, j])
        columns = [forest.predict(part.X) for part in (test, after)]
    else:  # a line that never works: its constant is the prediction
        columns = [np.full(len(part), train.y[0, j]) for part in (test, after)]
    for k in range(2):
        local[k].append(columns[k])
predictions["per target"] = [np.column_stack(columns) for columns in local]

for name, (same, other) in predictions.items():
    errors = [
        np.sqrt(np.mean((predicted - part.y) ** 2))
        for predicted, part in ((same, test), (other, after))
    ]
    print(f"{name:10s}  same regime {errors[0]:.3f}, after the change {errors[1]:.3f}")

by_line = np.sqrt(np.mean((predictions["global"][1] - after.y) ** 2, axis=0))
print("largest errors after the change:", [lines[j] for j in np.argsort(-by_line)[:3]])

# %%
# Group shares
# ------------
#
# A global forest has scores for each target. Summed by group, they show what a line depends on. Crosses mark the true
# groups. A line without a cross is off: ``heater33`` is constant and has no scores, and the scores of ``heater11``
# before the change are almost 0.
ranker = om.EnsembleRanker(
    n_trees=30, min_samples_leaf=5, per_target=True, random_state=0, n_jobs=-1
)
rankings = {"before": ranker.fit(before).ranking_, "after": ranker.fit(after).ranking_}
names = list(dict.fromkeys(groups.values()))


def group_shares(ranking):
    """Shares of the groups, one row per line."""
    rows = [
        ranking.for_target(line).group_scores(groups, as_shares=True).reindex(names)
        for line in lines
    ]
    return np.array(rows)


figure, axes = plt.subplots(2, 1, figsize=(9, 6), sharex=True, layout="constrained")
for ax, (period, ranking) in zip(axes, rankings.items(), strict=True):
    shares, truth = group_shares(ranking), craft.driving_groups(period)[names].to_numpy()
    bottom = np.cumsum(shares, axis=1) - shares
    for g, name in enumerate(names):
        ax.bar(range(len(lines)), shares[:, g], bottom=bottom[:, g], label=name)
        true = np.flatnonzero(truth[:, g])
        ax.plot(true, (bottom + shares / 2)[true, g], "kx", markersize=4)
    ax.set(title=f"{period} the change", ylabel="share of the scores", ylim=(0, 1))
axes[1].set_xticks(
    range(len(lines)), [line.removeprefix("heater") for line in lines], fontsize=7
)
axes[1].set_xlabel("heater")
figure.legend(*axes[0].get_legend_handles_labels(), ncols=4, loc="outside lower center")
plt.show()

# %%
# How often is the best group a true one?
for period, ranking in rankings.items():
    truth = craft.driving_groups(period)[names].to_numpy()
    driven = truth.any(axis=1)
    right = truth[np.arange(len(lines)), group_shares(ranking).argmax(axis=1)][driven]
    print(f"{period}: best group right for {right.sum()} of {driven.sum()} lines")

# %%
# Features by targets
# -------------------
#
# Scores relative to the best feature of each line. Single commands stand out, and the energy on single surfaces, with
# its past. ``heater11`` is almost white before the change: scores are scaled up at most 20 times beside other lines.
figure, axes = plt.subplots(1, 2, figsize=(9, 9), sharey=True, layout="constrained")
largest = rankings["after"].per_target.scores.max()
for ax, (period, ranking) in zip(axes, rankings.items(), strict=True):
    scores = np.maximum(ranking.per_target.scores, 0)
    best = np.maximum(scores.max(axis=1, keepdims=True), 0.05 * largest)
    image = ax.imshow((scores / best).T, cmap="Greys", aspect="auto", vmin=0, vmax=1)
    ax.set(title=f"{period} the change", xlabel="heater")
    ax.set_xticks(
        range(0, len(lines), 4), [line.removeprefix("heater") for line in lines[::4]]
    )
features = list(rankings["before"].names)
axes[0].set_yticks(range(len(features)), features, fontsize=5)
figure.colorbar(image, ax=axes, label="score, relative to the best feature", shrink=0.5)
plt.show()

# %%
# Rankings before and after the change
# ------------------------------------
#
# The fuzzy Jaccard index of the top *j* features starts low for lines that changed, and high for those that did not.
# Below the relevant features, the order is random, so all curves are about the same there.
comparisons = {
    line: om.compare_rankings(
        rankings["before"].for_target(line), rankings["after"].for_target(line)
    )
    for line in lines
    if rankings["after"].for_target(line).scores.any()  # a constant line has no ranking
}
shown = ("heater11", "heater29", "heater01", "heater12")
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
plot_fuji([comparisons[line] for line in shown], labels=shown, ax=ax)
ax.set_xscale("log")
plt.show()

top = {line: comparison.fuji[:10].mean() for line, comparison in comparisons.items()}
print("least alike among the top 10 features:", sorted(top, key=top.get)[:3])
