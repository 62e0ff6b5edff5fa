"""Constructed features of a database of 50,000 customers, 1,000,000 orders and 3,000,000 items, beside featuretools."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import Bar, Contestant, benchmark, compare, figure
from benchmarks._measure import median_seconds
from benchmarks.public_data import public_data
from omnirank.relational import RelationalDataset, RelationalFeatures, RelationalForest
from omnirank.relational.database import Database

CUSTOMERS, ORDERS, ITEMS = 50_000, 1_000_000, 3_000_000
ALL = ("count", "count_unique", "min", "max", "mean", "sum", "mode")
PLAIN = ("count", "min", "max", "mean", "sum")
_FEATURETOOLS = {"count_unique": "num_unique"}


@cache
def make_tables(n_customers: int, n_orders: int, n_items: int) -> dict[str, pd.DataFrame]:
    """Return tables with two numeric columns and a nominal one each; orders have a customer, items an order."""
    rng = np.random.default_rng(0)

    def table(n: int, **keys: np.ndarray) -> pd.DataFrame:
        kinds = pd.Categorical.from_codes(rng.integers(0, 8, n), list("abcdefgh"))
        return pd.DataFrame({"id": np.arange(n), **keys, "x": rng.normal(size=n), "y": rng.random(n), "kind": kinds})

    tables = {
        "customers": table(n_customers),
        "orders": table(n_orders, customer_id=rng.integers(0, n_customers, n_orders)),
    }
    if n_items:
        tables["items"] = table(n_items, order_id=rng.integers(0, n_orders, n_items))
    return tables


def make_dataset(*sizes: int) -> RelationalDataset:
    """Return the database with every customer as an example."""
    tables = make_tables(*sizes)
    links = {"orders.customer_id": "customers", "items.order_id": "orders"}
    keys = dict.fromkeys(tables, "id") | {column: t for column, t in links.items() if column.split(".")[0] in tables}
    return RelationalDataset.from_frames(tables, target="customers", keys=keys)


def without_indexes(data: RelationalDataset) -> RelationalDataset:
    """Return the same data set as it is when it was just read."""
    database = Database(dict(data.database.objects), dict(data.database.relations))
    return RelationalDataset(database, data.example_types, data.example_codes, data.target, data.task)


def by_omnirank(data: RelationalDataset, aggregates: tuple[str, ...], lookahead: int) -> pd.DataFrame:
    """Compute all features, indexes included."""
    features = RelationalFeatures(lookahead, aggregates)
    return features.fit_transform(without_indexes(data))


def make_entities(*sizes: int) -> Any:
    """Return the tables as featuretools wants them."""
    import featuretools as ft

    entities = ft.EntitySet("shop")
    for name, table in make_tables(*sizes).items():
        entities = entities.add_dataframe(dataframe_name=name, dataframe=table.copy(), index="id")
    entities = entities.add_relationship("customers", "id", "orders", "customer_id")
    if "items" in make_tables(*sizes):
        entities = entities.add_relationship("orders", "id", "items", "order_id")
    return entities


def by_featuretools(entities: Any, aggregates: tuple[str, ...], depth: int) -> pd.DataFrame:
    """Compute its features of the same tables and aggregates."""
    import featuretools as ft

    primitives = [_FEATURETOOLS.get(name, name) for name in aggregates]
    frame, _ = ft.dfs(
        entityset=entities, target_dataframe_name="customers", agg_primitives=primitives, trans_primitives=[],
        max_depth=depth, n_jobs=1,
    )  # fmt: skip
    return frame


def shape(frame: Any) -> dict[str, float]:
    """Return the number of features."""
    return {} if frame is None else {"features": frame.shape[1]}


# Sizes of the tables, aggregates, steps of a path, tables from the customers on, and the longest time in seconds.
CASES = {
    "two tables away": ((CUSTOMERS, ORDERS, ITEMS), ALL, 3, 2, 2.5),
    "two tables away, without mode and count unique": ((CUSTOMERS, ORDERS, ITEMS), PLAIN, 3, 2, 1.5),
    "one table away": ((CUSTOMERS, ORDERS, 0), ALL, 2, 1, 0.42),
}


@benchmark("relational-features")
def relational_features(quick: bool) -> list:
    """Features of customers from orders and items; featuretools 1.31 took 77 s and 4.7 s, getML's FastProp 0.85 s."""
    results: list[Any] = []
    for name, (full, aggregates, lookahead, depth, limit) in CASES.items():
        sizes = tuple(size // 1000 for size in full) if quick else full
        contestants = [
            Contestant(
                "omnirank",
                partial(make_dataset, *sizes),
                partial(by_omnirank, aggregates=aggregates, lookahead=lookahead),
                shape,
            ),
            Contestant(
                "featuretools",
                partial(make_entities, *sizes),
                partial(by_featuretools, aggregates=aggregates, depth=depth),
                shape,
                requires=("featuretools",),
            ),
        ]
        result = compare(name, contestants, repetitions=3 if quick else 5, memory=not quick)
        results += [result, figure(f"{name}, wall time", result.timings[0].median, "s", bar=Bar(at_most=limit))]
    return results


@benchmark("relational-single")
def relational_single(quick: bool) -> list:
    """All features of one customer of that database, its indexes made before."""
    sizes = (50, 1000, 3000) if quick else (CUSTOMERS, ORDERS, ITEMS)
    data = make_dataset(*sizes)
    features = RelationalFeatures(3).fit(data)
    one = data.take([17])
    features.transform(one)
    seconds = median_seconds(partial(features.transform, one), 3 if quick else 21)
    results = [figure("one example, wall time", 1000 * seconds, "ms", bar=Bar(at_most=20))]
    folder = public_data() / "relational" / "mutagenesis_188"
    return results + (_scored(folder, quick) if folder.is_dir() else [])


def _scored(folder: Path, quick: bool) -> list:
    """One molecule scored by a forest, in the database of the fit and in another one of half its molecules."""
    kinds = {"atoms.atom_type": "nominal", "bonds.bond_type": "nominal"}
    data = RelationalDataset.from_folder(folder, target="drugs.active", exclude=["drugs.act"], types=kinds)
    forest = RelationalForest(n_trees=2 if quick else 50, random_state=0).fit(data)
    frames = {path.stem: pd.read_csv(path) for path in folder.glob("*.csv")}
    frames["drugs"] = frames["drugs"].iloc[::2]
    other = RelationalDataset.from_frames(frames, target="drugs.active", like=data)
    results = []
    for name, examples in (("the same database", data), ("another database", other)):
        one = examples.take([3])
        forest.predict(one)
        seconds = median_seconds(partial(forest.predict, one), 3 if quick else 21)
        results.append(figure(f"score of one example of {name}, wall time", 1000 * seconds, "ms", bar=Bar(at_most=20)))
    return results
