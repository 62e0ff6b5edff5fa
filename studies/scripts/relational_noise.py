"""How often noise ranks above the one column that matters: small databases of four tables.

    python studies/scripts/relational_noise.py [--seeds 10]

Customers (the examples) have orders and calls, orders belong to shops. The class depends on one summary of a customer's
orders; all other columns are noise: nominal ones of 25 to 60 levels, numbers and dates. Writes
studies/results/relational_noise.csv: in how many databases no noise ranks above the true column.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from omnirank.relational import RelationalDataset, RelationalRanker

FIGURES = Path(__file__).parent.parent / "results"
SHOPS = 60
TRUE = {
    "mean": "orders_amount",
    "max": "orders_amount",
    "count": "orders_customer_id",
    "two steps": "shops_size",  # mean of the logarithm, which no aggregate computes
    "condition": "shops_kind",  # number of orders from shops of one kind: not constructed
}
LINKS = {"orders_customer_id", "orders_shop_id"}  # the path to the truth
RANKERS = {
    "genie3": {"importance": "genie3"},
    "unbiased": {},
    "unbiased, random forest": {"ensemble": "random-forest"},
}


def days(rng, first, most, n):
    """Dates without times."""
    return pd.Timestamp(first) + pd.to_timedelta(rng.integers(0, most, n), "D")


def database(signal, seed, n, strength):
    """A database in which the logit of the class is ``strength`` times the standardised summary."""
    rng = np.random.default_rng([seed, 7])
    shops = {"id": [f"s{i}" for i in range(SHOPS)], "size": rng.gamma(2, 10, SHOPS).round(2)}
    shops |= {"street": rng.choice([f"st{i}" for i in range(25)], SHOPS), "opened": days(rng, "2000", 7000, SHOPS)}
    shops["kind"] = rng.choice(list("abcd"), SHOPS)
    counts = rng.poisson(5, n) if signal == "count" else np.maximum(1, rng.poisson(5, n))
    by, level = np.repeat(np.arange(n), counts), rng.normal(size=n)
    m = len(by)
    amount, shop = (level[by] + rng.normal(size=m)).round(3), rng.integers(0, SHOPS, m)
    orders = {"id": np.arange(m) + 10000, "customer_id": [f"c{i}" for i in by], "shop_id": [f"s{i}" for i in shop]}
    orders |= {"amount": amount, "weight": rng.normal(size=m).round(3)}
    orders |= {"article": rng.choice([f"a{i}" for i in range(60)], m), "day": days(rng, "2020", 900, m)}
    orders["way"] = rng.choice(list("xyz"), m)
    caller = np.repeat(np.arange(n), rng.poisson(4, n))
    k = len(caller)
    calls = {"id": np.arange(k) + 50000, "customer_id": [f"c{i}" for i in caller]}
    calls |= {"seconds": rng.gamma(2, 60, k).round(1), "agent": rng.choice([f"g{i}" for i in range(40)], k)}
    calls["at"] = pd.Timestamp("2020") + pd.to_timedelta(rng.integers(0, 900 * 24, k), "h")
    values = {"two steps": np.log(shops["size"])[shop], "condition": (shops["kind"][shop] == "a").astype(float)}
    groups = pd.Series(values.get(signal, amount)).groupby(by)
    summary = groups.agg({"two steps": "mean", "condition": "sum"}.get(signal, signal)).reindex(range(n))
    summary = summary.fillna(0) if signal == "count" else summary
    odds = np.exp(strength * (summary - summary.mean()) / summary.std(ddof=0)).to_numpy()
    customers = {"id": [f"c{i}" for i in range(n)], "left": np.where(rng.random(n) < odds / (1 + odds), "yes", "no")}
    customers |= {"age": rng.normal(50, 15, n).round(1), "zip": rng.choice([f"z{i}" for i in range(60)], n)}
    customers["since"] = days(rng, "2010", 3000, n)
    tables = {"customers": customers, "orders": orders, "shops": shops, "calls": calls}
    frames = {name: pd.DataFrame(table) for name, table in tables.items()}
    return RelationalDataset.from_frames(frames, target="customers.left")


def is_first(data, signal, seed, given):
    """Whether only links that lead to the true column rank above it."""
    by = "relation" if signal == "count" else "column"
    ranking = RelationalRanker(by=by, random_state=seed, n_jobs=1, **given).fit(data).ranking_
    order = [ranking.names[i] for i in ranking.order]
    return set(order[: order.index(TRUE[signal])]) <= LINKS


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    warnings.simplefilter("ignore")  # notes on the columns of noise
    rows = []
    for signal, strength, n in itertools.product(TRUE, (0.75, 1.5), (200, 500)):
        made = [database(signal, seed, n, strength) for seed in seeds]
        for name, given in RANKERS.items():
            first = sum(is_first(data, signal, seed, given) for data, seed in zip(made, seeds, strict=True))
            rows.append((signal, strength, n, name, first, len(seeds)))
            print(*rows[-1], flush=True)
    columns = ["signal", "strength", "examples", "ranker", "first", "databases"]
    pd.DataFrame(rows, columns=columns).to_csv(FIGURES / "relational_noise.csv", index=False)
