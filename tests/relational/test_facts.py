"""Files of facts: read, typed by settings or by their arguments, and turned into relations; what settings declare."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from benchmarks.public_data import public_data
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from omnirank.errors import DataError, FileFormatError, ParameterError
from omnirank.evaluation.cross import evaluate_relational
from omnirank.relational import (
    RelationalBoosting,
    RelationalDataset,
    RelationalFeatures,
    RelationalForest,
    RelationalRanker,
    RelationalTree,
)
from omnirank.relational.fact_files import read_fact_settings, read_facts
from omnirank.relational.facts import same_objects
from reference.relational_tables import decoded_facts

R = RelationalDataset

FACTS = """
// people
age(ana, 21).
age(bob, 33)   // older
age(cid, ?).
likes(ana, 'eggs, ham').  % with (parentheses)
likes( bob , "it's" ).
likes(bob,beef).
likes(bob,beef).
knows(ana,bob).
tall(cid).
"""
SETTINGS = """
[Relations]
vegan(Person, nominal)
age(Person, numericYears)
likes(Person, nominalFood)  // what
knows(Person, Person)
tall(Person)
height(Person, numeric)
[Aggregates]
count
countUnique
projection
[AtomTests]
age(old, new)
knows(old, new)
knows(new, old)
//tall(old)
likes(old, c)
"""


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return written


def test_comments_quotes_dots_and_unknown_arguments(write):
    found = read_facts(write("facts.txt.gz", FACTS))
    assert found["age"].arguments == [["ana", "bob"], ["21", "33"]]
    assert found["likes"].arguments == [["ana", "bob", "bob", "bob"], ["eggs, ham", "it's", "beef", "beef"]]
    assert found["tall"].arguments == [["cid"]]


def test_types_by_settings(write):
    data = R.from_facts(
        write("people.txt", FACTS), write("target.txt", "vegan(bob, no)\nvegan(ana, yes)\n"), write("p.s", SETTINGS)
    )
    assert data.example_types == ("Person",)
    assert data.example_ids.tolist() == ["ana", "bob"]
    assert data.y.tolist() == ["yes", "no"]
    assert decoded_facts(data) == {
        "age": [("ana", 21.0), ("bob", 33.0)],
        "height": [],
        "knows": [("ana", "bob")],
        "likes": [("ana", "eggs, ham"), ("bob", "beef"), ("bob", "it's")],
        "tall": [("cid",)],
    }
    assert data.aggregates == ("count", "count_unique")
    assert data.modes == {
        "age": (("old", "any"),),
        "height": (),
        "knows": (("old", "any"), ("any", "old")),
        "likes": (("old", "c"),),
        "tall": (),
    }
    assert data.name == "people"


def test_types_by_arguments(write):
    data = R.from_facts(write("people.txt", FACTS), write("target.txt", "vegan(bob, 0)\nvegan(ana, 1)\n"))
    kinds = {
        name: [component.kind for component in relation.components]
        for name, relation in data.database.relations.items()
    }
    assert kinds == {
        "age": ["object", "numeric"],
        "knows": ["object", "object"],
        "likes": ["object", "nominal"],
        "tall": ["object"],
    }
    types = {relation.components[0].type for name, relation in data.database.relations.items() if name != "tall"}
    assert types == {"vegan.1"}
    assert data.y.tolist() == [1, 0]
    assert any(note.startswith("types of the arguments inferred") for note in data.notes)


def test_positive_and_negative_facts_of_links(write):
    positive = write("pos.txt", "advises(ann, bob).\nadvises(ann, cid).\n")
    negative = write("neg.txt.gz", "advises(bob, ann).\nadvises(ann, cid).\nadvises(bob, ann).\n")
    modes = write("bk.txt", "setParam: x=1.\n// comment\nmode: wrote(+Person, -Paper).\nmode: wrote(-Person, +Paper).\n"
                  "mode: year(+Paper, +Year).\nmode: advises(+Person, +Person).\nmode: never(+Person).\n")  # fmt: skip
    facts = write("facts.txt", "wrote(ann, p1).\nwrote(bob, p1).\nyear(p1, 1999).\nother(ann).\n")
    data = R.from_facts(facts, (positive, negative), modes)
    assert data.example_types == ("person", "person")
    assert data.example_ids == [("ann", "bob"), ("ann", "cid"), ("bob", "ann")]
    assert data.y.tolist() == [True, True, False]
    assert any("1 negative fact of advises are positive ones too" in note for note in data.notes)
    assert any("not used: other" in note for note in data.notes)
    assert data.database.objects["person"].tolist() == ["ann", "bob", "cid"]
    # a year is a number, so that it cannot be known before
    assert data.modes == {"wrote": (("old", "any"), ("any", "old")), "year": (("old", "any"),)}


def test_several_facts_of_an_example(write):
    facts, target = write("facts.txt", "age(a, 3)\nage(b, 4)\n"), write("t.txt", "of(a, x)\nof(a, y)\nof(b, y)\n")
    with pytest.raises(DataError, match=r"of\(a\) has the values x and y; task='multi-label'"):
        R.from_facts(facts, target)
    data = R.from_facts(facts, target, task="multi-label")
    assert data.task == "multi-label"
    assert data.target_names == ("x", "y")
    assert data.target.dense().tolist() == [[1, 1], [0, 1]]
    hierarchy = om.Hierarchy(("x", "y"), ((), (0,)))
    assert R.from_facts(facts, target, hierarchy=hierarchy).target.dense().tolist() == [[1, 1], [1, 1]]


def test_numbers_as_target(write):
    facts, target = write("facts.txt", "age(a, 3)\nage(b, 4)\n"), write("t.txt", "y(a, 3)\ny(b, 4)\n")
    assert R.from_facts(facts, target).task == "classification"
    numeric = write("n.s", "[Relations]\ny(X, numeric)\nage(X, numeric)\n")
    data = R.from_facts(facts, target, numeric)
    assert (data.task, data.y.tolist()) == ("regression", [3.0, 4.0])
    assert R.from_facts(facts, target, task="regression").task == "regression"


def test_domains_share_their_levels(write):
    facts = write("facts.txt", "a(x, red)\nb(x, blue)\n")
    settings = write("s.s", "[Relations]\ny(X, nominal)\na(X, nominalColour)\nb(X, nominalColour)\n")
    relations = R.from_facts(facts, write("t.txt", "y(x, 1)\n"), settings).database.relations
    assert relations["a"].components[1].levels == relations["b"].components[1].levels == ("blue", "red")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("likes(ana, beef)\nlikes(ana)\n", r"line 2: likes has 1 argument here, but 2 before"),
        ("likes ana beef\n", r"line 1: 'likes ana beef' is no fact"),
        ("\nlikes(ana,)\n", r"line 2: likes has an empty argument"),
        ("likes(ana, 'beef)\n", r"line 1: the quotes"),
        ("likes(ana, beef) and more\n", "is no fact"),
        (f"many({','.join(['a'] * 100_000)}).\n", "line 1: many has 100000 arguments, more than 1000"),
        ("many(" + ",".join(["a,'b'"] * 50_000) + ").\n", "line 1: many has 100000 arguments, more than 1000"),
    ],
    ids=range(7),
)
def test_malformed_facts_are_errors_with_lines(write, text, message):
    with pytest.raises(FileFormatError, match=message):
        read_facts(write("facts.txt", text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y(X, nominal)\n", "starts with"),
        ("[Tables]\n", r"no section \[Tables\]"),
        ("[Aggregates]\nmin\n", "names no relation"),
        ("[Relations]\ny(X, nominal)\n[Aggregates]\nmedian\n", r"line 4: there is no aggregate 'median'"),
        ("[Relations]\ny(X, nominal)\n[AtomTests]\na(old)\n", r"line 4: \[Relations\] does not name 'a'"),
        ("[Relations]\ny(X, nominal)\na(X)\n[AtomTests]\na(old, new)\n", "say old, new or c"),
        ("mode: a(x).\n", r"has 'x': write \+type"),
        ("mode: a(+x).\nmode: a(+z).\n", "other types than before"),
    ],
)
def test_malformed_settings_are_errors_with_lines(write, text, message):
    with pytest.raises(FileFormatError, match=message):
        read_fact_settings(write("x.s", text))


def test_facts_that_do_not_fit(write):
    facts, target = write("facts.txt", "a(x, red)\n"), write("t.txt", "y(x, 1)\n")
    for settings, message in (
        ("y(X, nominal)\na(X)", "facts of a have 2 arguments, the settings say 1"),
        ("y(X, nominal, nominal)\na(X, nominal)", "facts of y have 1 argument, the settings say 3"),
        ("y(X, nominal)\na(X, numeric)", "argument 'red', which is not a number"),
        ("z(X, nominal)\na(X, nominal)", "holds facts of no predicate"),
    ):
        with pytest.raises(DataError, match=message):
            R.from_facts(facts, target, write("s.s", f"[Relations]\n{settings}\n"))
    for paths, options, message in (
        ((facts, write("t1.txt", "y(x)\n")), {}, "y has one argument: the last is the value"),
        ((facts, (target, target, target)), {}, "a pair of positive and negative facts"),
        ((facts, target), {"exclude": ["b"]}, "no facts of 'b'"),
        ((facts.with_name("none.txt"), target), {}, "there is no file"),
    ):
        with pytest.raises(DataError, match=message):
            R.from_facts(*paths, **options)


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=6)


@pytest.mark.slow
@given(st.lists(st.tuples(words, words), max_size=8), st.sampled_from(["\\'", "''", '\\"', '""']))
def test_quoted_arguments_come_back(tmp_path_factory, arguments, escaped):
    quote = escaped[-1]

    def quoted(text):
        return quote + text.replace("\\", "\\\\").replace(quote, escaped) + quote

    arguments = [pair for pair in arguments if "?" not in pair]
    path = tmp_path_factory.mktemp("facts") / "facts.txt"
    path.write_text("".join(f"r({quoted(a)}, {quoted(b)}).\n" for a, b in arguments), encoding="utf-8")
    found = read_facts(path)
    assert list(zip(*found["r"].arguments, strict=True) if found else []) == arguments


@pytest.mark.shared_data
def test_public_facts():
    folder = public_data() / "relational"
    imdb = R.from_facts(
        folder / "imdb" / "train_facts.txt",
        (folder / "imdb" / "train_pos.txt", folder / "imdb" / "train_neg.txt"),
        folder / "imdb" / "imdb_bk.txt",
    )
    assert {name: relation.n_facts for name, relation in imdb.database.relations.items()} == {
        "actor": 236,
        "genre": 47,
        "movie": 286,
        "workedunder": 382,
    }
    uwcse = folder / "uwcse_advisedby"
    links = R.from_facts(
        uwcse / "advisedby_facts.txt",
        (uwcse / "advisedby_pos.txt", uwcse / "advisedby_neg.txt.gz"),
        uwcse / "advisedby_bk.txt",
    )
    assert links.example_types == ("person", "person")
    assert len(links.database.relations) == 14


@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "examples"), [("trains", 20), ("mutagenesis_42", 42), ("mutagenesis_188", 188)])
def test_public_folders(name, examples):
    folder = public_data() / "relational" / name
    data = R.from_folder(folder)
    assert len(data) == examples
    assert ("drugs.act" in " ".join(data.notes)) == name.startswith("mutagenesis")


# -- settings ----------------------------------------------------------------------------------------


SHOP_SETTINGS = """
[Relations]
liked(Shop, nominal)
sale(Item, Shop)
price(Item, numeric)
leak(Shop, numeric)
famous(Shop)
[Aggregates]
max
count
[AtomTests]
sale(new, old)
famous(old)
price(old, new)
"""


@pytest.fixture
def shop_files(tmp_path):
    """Shops that are liked for a cheap item; a relation that the modes do not name tells the class as well."""
    facts, target = [], []
    for shop in range(24):
        liked = shop % 2
        prices = [1, 9, 5 + shop % 5] if liked else [3, 9, 5 + shop % 7]
        facts.append(f"leak(s{shop}, {liked}).")
        facts += [f"famous(s{shop})."] if shop % 3 else []
        for number, price in enumerate(prices):
            facts += [f"sale(i{shop}_{number}, s{shop}).", f"price(i{shop}_{number}, {price})."]
        target.append(f"liked(s{shop}, {'yes' if liked else 'no'}).")
    found = tmp_path / "facts.txt", tmp_path / "target.txt", tmp_path / "shops.s"
    for path, text in zip(found, ("\n".join(facts), "\n".join(target), SHOP_SETTINGS), strict=True):
        path.write_text(text)
    return found


@pytest.fixture
def shops(shop_files):
    return RelationalDataset.from_facts(*shop_files)


def used(model):
    relations = {step.relation for feature in model.features_ for step in feature.path}
    return relations, {name for feature in model.features_ for name in feature.aggregates}


@pytest.mark.parametrize(
    "model",
    [
        RelationalTree(random_state=0),
        RelationalForest(n_trees=5, random_state=0),
        RelationalBoosting(n_trees=5, random_state=0),
        RelationalFeatures(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_learners_keep_to_what_settings_declare(shops, model):
    relations, aggregates = used(model.fit(shops))
    assert relations <= {"sale", "price", "famous"}
    assert "sale" in relations
    assert aggregates <= {"max", "count", "identity"}


def test_what_is_given_wins(shops):
    relations, _ = used(RelationalTree(modes={}, random_state=0).fit(shops))
    assert relations == {"leak"}
    model = RelationalTree(aggregates=["min"], random_state=0).fit(shops)
    assert used(model) == ({"sale", "price"}, {"min", "identity"})
    assert model.aggregates == ["min"]
    assert model.modes is None
    assert model.score(shops) == 1


def test_another_preset_has_its_own_aggregates(shops):
    features = RelationalFeatures(aggregates="AGG-Exist").fit(shops)
    assert used(features) == ({"famous"}, {"exists"})


def test_ranker_and_command_line(shops, shop_files):
    ranking = RelationalRanker(n_trees=5, random_state=0).fit(shops).ranking_
    scores = dict(zip(ranking.to_frame()["feature"], ranking.to_frame()["score"], strict=True))
    assert scores["leak"] == 0
    assert scores["sale"] > 0
    facts, target, settings = map(str, shop_files)
    given = [facts, "--target", target, "--read", f"settings={settings}"]
    tree = CliRunner().invoke(app, ["tree", *given], env={"COLUMNS": "200"})
    assert tree.exit_code == 0, tree.output
    assert "leak" not in tree.stdout
    features = CliRunner().invoke(app, ["features", *given], env={"COLUMNS": "200"})
    assert features.exit_code == 0, features.output
    assert "max(" in features.stdout
    assert "min(" not in features.stdout


# -- types that are inferred -------------------------------------------------------------------------


def molecules(seed=0, n_drugs=60):
    """Facts of drugs, atoms and rings that are all numbered from 0, ring by ring along with the class.

    A drug is active if the mean charge of its atoms is high. Rings are numbered drug by drug, active drugs first: as
    numbers, their identifiers would tell the class.
    """
    rng = np.random.default_rng(seed)
    active = np.arange(n_drugs) < n_drugs // 2
    names = rng.permutation(n_drugs)
    facts, atom = [], 0
    for ring, (drug, is_active) in enumerate(zip(names, active, strict=True)):
        for _ in range(int(rng.integers(4, 9))):
            facts.append(f"charge({atom},{drug},{rng.normal(0.8 * is_active, 1):.3f})")
            atom += 1
        facts += [f"bond({drug},{atom - 1 - i},{atom - 2 - i})" for i in range(3)]
        facts += [f"ring_of({drug},{ring})", *(f"ring_atom({ring},{atom - 1 - i})" for i in range(3))]
        facts += [f"level({drug},{int(rng.integers(5))})"]
    target = [f"active({drug},{int(is_active)})" for drug, is_active in zip(names, active, strict=True)]
    return "\n".join(facts), "\n".join(target)


def types_of(data):
    return {n: tuple(c.type for c in r.components) for n, r in data.database.relations.items()}


def test_numberings_that_overlap_are_no_evidence(write):
    facts, target = molecules()
    data = R.from_facts(write("facts.txt", facts), write("target.txt", target))
    found = types_of(data)
    drug, atom = found["charge"][1], found["charge"][0]
    assert drug == "active.1" != atom
    assert found["bond"] == (drug, atom, atom)
    # 60 rings of 60 drugs: a numbering of the facts, of which nothing says what it identifies
    assert found["ring_of"][1] not in (drug, atom)
    assert found["ring_atom"][1] == atom
    kinds = {name: relation.components[-1].kind for name, relation in data.database.relations.items()}
    assert kinds["level"] == "numeric"
    assert kinds["ring_of"] == kinds["ring_atom"] == "object"
    model = RelationalForest(n_trees=5, max_path_length=2, random_state=0).fit(data.take(slice(0, None, 2)))
    assert model.score(data.take(slice(1, None, 2))) < 0.95  # 1.0 by the numbers of rings


def test_doubts_about_types_are_noted_and_settled(write):
    facts, target = molecules()
    paths = write("facts.txt", facts), write("target.txt", target)
    data = R.from_facts(*paths)
    notes = [note for note in data.notes if "ring_of.2" in note and "types={" in note]
    assert any("different whole number in every fact" in note for note in notes)
    joined = R.from_facts(*paths, types={"ring_of.2": "ring_atom.1", "level.2": "nominal"})
    assert types_of(joined)["ring_of"][1] == types_of(joined)["ring_atom"][0]
    assert joined.database.relations["level"].components[1].kind == "nominal"
    assert not any("ring_of.2 is a different" in note for note in joined.notes)
    as_number = R.from_facts(*paths, types={"ring_of.2": "numeric"})
    assert as_number.database.relations["ring_of"].components[1].kind == "numeric"
    assert types_of(R.from_facts(*paths, types={"ring_of.2": "Ring"}))["ring_of"][1] == "Ring"
    with pytest.raises(DataError, match=r"types: there is no argument 'ring_of.3'"):
        R.from_facts(*paths, types={"ring_of.3": "numeric"})
    with pytest.raises(ParameterError, match="the settings declare the types"):
        R.from_facts(write("f.txt", "a(x, red)\n"), write("t.txt", "y(x, 1)\n"),
                     write("s.s", "[Relations]\ny(X, nominal)\na(X, nominal)\n"), types={"a.2": "C"})  # fmt: skip
    shown = CliRunner().invoke(
        app, ["info", str(paths[0]), "--target", str(paths[1]), "--read", "nominal=ring_of.2=numeric,level.2"],
        env={"COLUMNS": "300"},
    )  # fmt: skip
    assert shown.exit_code == 0, shown.output
    assert "numeric ring_of.2" in shown.output


def test_examples_that_are_the_first_objects_are_linked_with_a_note(write):
    facts = "".join(f"size({i},{i * 7 % 31}).\nsold({j},{i}).\n" for i in range(40) for j in (2 * i, 2 * i + 1))
    data = R.from_facts(write("f.txt", facts), write("t.txt", "".join(f"y({i},{i % 2}).\n" for i in range(12))))
    assert types_of(data)["size"][0] == "y.1"
    assert any("y.1 and size.1 are taken as the same objects" in note for note in data.notes)


def test_sparse_identifiers_with_strangers_are_joined():
    rng = np.random.default_rng(0)
    whole = set(rng.choice(100_000, 400, replace=False).tolist())
    part = set(list(whole)[:80]) | {100_001, 100_002}
    assert same_objects(part, whole) > 100
    assert same_objects(set(rng.choice(100_000, 400, replace=False).tolist()), whole) < 0


def mutagenesis_facts(folder):
    """The tables of the molecules as facts, without the column from which the class is derived."""
    rows = {path.stem: pd.read_csv(path, dtype=str) for path in sorted(folder.glob("*.csv"))}
    lines = []
    for name, keys in {"atoms": 2, "bonds": 4, "drugs": 1, "ring_strucs": 2}.items():
        table = rows[name].drop(columns=["act", "active", *(["id"] if name == "bonds" else [])], errors="ignore")
        keys -= name == "bonds"
        for column in table.columns[keys:]:
            values = table[[*table.columns[:keys], column]].itertuples(index=False, name=None)
            lines += [f"{name}_{column}({','.join(row)})" for row in values]
    lines += [f"ring_atom({row.ring_id},{row.atom_id})" for row in rows["ring_atom"].itertuples()]
    lines += [f"rings({row.id},{row.ring_struc_id})" for row in rows["rings"].itertuples()]
    return "\n".join(lines), "\n".join(f"active({row.id},{row.active})" for row in rows["drugs"].itertuples())


@pytest.mark.shared_data
@pytest.mark.slow
def test_mutagenesis_without_settings_has_no_leak(write):
    facts, target = mutagenesis_facts(public_data() / "relational" / "mutagenesis_188")
    data = R.from_facts(write("facts.txt", facts), write("target.txt", target))
    drug, atom, ring, structure = "active.1", "atoms_atom_type.1", "ring_atom.1", "ring_strucs_name.1"
    found = types_of(data)
    assert found["atoms_charge"][:2] == (atom, drug)
    assert found["bonds_bond_type"][:3] == (drug, atom, atom)
    assert found["ring_atom"] == (ring, atom)
    assert found["rings"] == (ring, structure)
    assert found["ring_strucs_name"][:2] == (structure, drug)
    model = RelationalForest(n_trees=10, max_path_length=2, random_state=0)
    result = evaluate_relational({"forest": model}, data, n_folds=5, random_state=0)
    result = result.summary.set_index(["model", "measure"])
    assert 0.84 < result.loc[("forest", "accuracy"), "value"] < 0.96


# -- what settings files and facts say beside that -----------------------------------------------------


def test_what_settings_call_new_may_be_known(write):
    facts = write("f.txt", "bond(d1, a1, a2)\nbond(d1, a2, a1)\nbond(d2, b1, b2)\nring(d1, a1)\nring(d2, b2)\n")
    settings = write("s.s", "[Relations]\ny(D, nominal)\nbond(D, A, A)\nring(D, A)\n[AtomTests]\n"
                     "bond(old, new, new)\nring(new, old)\n")  # fmt: skip
    data = R.from_facts(facts, write("t.txt", "y(d1, 1)\ny(d2, 0)\n"), settings)
    assert data.modes == {"bond": (("old", "any", "any"),), "ring": (("any", "old"),)}
    steps = {feature.path[1].bound for feature in RelationalFeatures().fit(data).features_ if len(feature.path) > 1}
    assert {((0, 0), (1, 1)), ((1, 1),)} <= steps  # a ring of the molecule itself; of any
    fresh = {"bond": [("old", "new", "new")], "ring": [("new", "old")]}
    only_new = RelationalFeatures(modes=fresh).fit(data).features_
    assert {feature.path[1].bound for feature in only_new if len(feature.path) > 1} == {((1, 1),), ((1, 2),)}


def test_repeated_facts_are_noted_and_may_count(write):
    facts, target = write("f.txt", "buys(a, x)\nbuys(a, x)\nbuys(b, x)\n"), write("t.txt", "y(a, 1)\ny(b, 0)\n")
    data = R.from_facts(facts, target)
    assert any("facts that repeat others are left out: buys (1); duplicates='count'" in note for note in data.notes)
    bag = R.from_facts(facts, target, duplicates="count")
    assert bag.database.relations["buys"].n_facts == 3
    assert not any("repeat" in note for note in bag.notes)
    count = RelationalFeatures(lookahead=1, aggregates=["count"]).fit(bag)
    assert count.transform(bag).iloc[:, 0].tolist() == [2, 1]
    assert count.transform(bag.aligned_with(data)).iloc[:, 0].tolist() == [2, 1]
    with pytest.raises(ParameterError, match="duplicates"):
        R.from_facts(facts, target, duplicates="bag")


def test_what_of_settings_is_not_used_is_noted(write):
    settings = write("s.s", "[Relations]\ny(X, nominal)\na(X, nominal)\n[Aggregates]\ncount\nflatten\nprojection\n"
                     "[TreeParameters]\nmaxDepth = 3\n[RelationsConstructed]\nnext(X, X)\n")  # fmt: skip
    data = R.from_facts(write("f.txt", "a(x, red)\ny(x, 1)\n"), write("t.txt", "y(x, 1)\n"), settings)
    notes = " ".join(data.notes)
    assert "[TreeParameters] of the settings is not used: set max_depth" in notes
    assert "maxDepth = 3" in notes
    assert "[RelationsConstructed]" in notes
    assert "flatten of the settings is not done" in notes
    assert "projection of the settings is always done" in notes
    assert "1 fact of the target 'y' among the descriptive ones: not used" in notes
    assert data.aggregates == ("count",)


def test_notes_are_about_relations_in_use_and_lead_to_working_calls(write):
    lines = "".join(
        f"leak(s{i}, {3.5 if i % 2 else 1.5}).\nname(i{i}, n{i}).\nmakes(s{i}, i{i}).\nmakes(s{i}, i{(i * 7) % 60}).\n"
        for i in range(60)
    )
    facts, target = write("f.txt", lines), write("t.txt", "".join(f"liked(s{i}, {i % 2}).\n" for i in range(60)))
    settings = write("s.s", "[Relations]\nliked(S, nominal)\nleak(S, numeric)\nname(I, nominal)\nmakes(S, I)\n"
                     "[AtomTests]\nmakes(old, new)\nname(old, new)\n")  # fmt: skip
    everything, within = R.from_facts(facts, target), R.from_facts(facts, target, settings)
    assert any("'leak'" in note for note in everything.notes)
    assert not any("'leak'" in note for note in within.notes)  # no mode uses it
    [note] = [note for note in everything.notes if "identifiers?" in note]
    [excluded] = re.findall(r"exclude=\['(.*)'\]", note)
    assert "name" not in R.from_facts(facts, target, exclude=[excluded]).database.relations


def test_features_of_facts_are_named_by_types(write):
    facts = write("f.txt", "taught(c1, p1, s1)\ntaught(c2, p2, s1)\nadvises(p1, p2, ai)\nadvises(p2, p1, db)\n")
    settings = write("s.s", "[Relations]\ny(IDcourse, nominal)\ntaught(IDcourse, IDperson, IDsession)\n"
                     "advises(IDperson, IDperson, nominal3)\n")  # fmt: skip
    data = R.from_facts(facts, write("t.txt", "y(c1, 1)\ny(c2, 0)\n"), settings)
    features = RelationalFeatures(modes={}).fit(data).features_
    assert not [f.sentence for f in features if re.search(r"(^|the )[0-9] of|\[[0-9]\]", f.sentence)]
    assert any("the value of the advises[person1] of the person of its taught" in f.sentence for f in features)
