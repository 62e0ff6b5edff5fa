"""Files of facts: read, typed by settings or by their arguments, and turned into relations; what settings declare."""

from __future__ import annotations

import gzip

import pytest
from benchmarks.public_data import public_data
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from omnirank.errors import DataError, FileFormatError
from omnirank.relational import (
    RelationalBoosting,
    RelationalDataset,
    RelationalFeatures,
    RelationalForest,
    RelationalRanker,
    RelationalTree,
)
from omnirank.relational.fact_files import read_fact_settings, read_facts
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
        "age": (("old", "new"),),
        "height": (),
        "knows": (("old", "new"), ("new", "old")),
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
    assert data.modes == {"wrote": (("old", "new"), ("new", "old")), "year": (("old", "new"),)}


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
    with pytest.raises(DataError, match="facts of a have 2 arguments, the settings say 1"):
        R.from_facts(facts, target, write("s.s", "[Relations]\ny(X, nominal)\na(X)\n"))
    with pytest.raises(DataError, match="argument 'red', which is not a number"):
        R.from_facts(facts, target, write("s.s", "[Relations]\ny(X, nominal)\na(X, numeric)\n"))
    with pytest.raises(DataError, match="holds facts of no predicate"):
        R.from_facts(facts, target, write("s.s", "[Relations]\nz(X, nominal)\na(X, nominal)\n"))
    with pytest.raises(DataError, match="y has one argument: the last is the value"):
        R.from_facts(facts, write("t1.txt", "y(x)\n"))
    with pytest.raises(DataError, match="a pair of positive and negative facts"):
        R.from_facts(facts, (target, target, target))
    with pytest.raises(DataError, match=r"no facts of 'b'"):
        R.from_facts(facts, target, exclude=["b"])
    with pytest.raises(DataError, match="there is no file"):
        R.from_facts(facts.with_name("none.txt"), target)


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
    assert ("drugs_act" in " ".join(data.notes)) == name.startswith("mutagenesis")


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
    features = RelationalFeatures(preset="AGG-Exist").fit(shops)
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
