"""The report in a real browser: one headless run of Chromium acts on the page and dumps what it saw."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess

import pytest

import omnirank as om

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: the report was not opened"),
]
# Acts on the page, and leaves what it saw in the document, which the browser prints.
SCRIPT = """
const seen = { errors: [] };
window.addEventListener("error", (event) => seen.errors.push(event.message));
const rows = () => Array.from(document.querySelectorAll("#all-features-table tbody tr"));
const names = () => rows().map((row) => row.cells[1].textContent);
const shown = () => rows().filter((row) => !row.hidden).length;
const heads = document.querySelectorAll("#all-features-table thead button");
seen.start = names();
heads[2].click();
seen.once = names();
heads[2].click();
seen.twice = names();
seen.sorted = heads[2].parentElement.getAttribute("aria-sort");
heads[1].click();
seen.names = names();
document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
const search = document.activeElement;
seen.focus = search.type;
search.value = "gene 21";
search.dispatchEvent(new Event("input"));
const status = () => document.querySelector("[role=status]").textContent;
seen.matching = [shown(), status()];
search.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
seen.all = [shown(), status()];
seen.markup = document.querySelectorAll("section i i, svg i, td i i, h1 script").length;
seen.title = document.title;
seen.picture = document.querySelector("#features svg").textContent;
const ink = () => getComputedStyle(document.body).color;
const theme = document.getElementById("theme");
seen.inks = [ink(), (theme.click(), ink()), (theme.click(), ink())];
HTMLAnchorElement.prototype.click = function () { seen.file = this.download; };
URL.createObjectURL = (blob) => { seen.size = blob.size; return "blob:"; };
document.querySelector("button[data-file]").click();
seen.requests = performance.getEntriesByType("resource").map((entry) => entry.name);
const cut = (one) => one.scrollWidth > one.clientWidth;
seen.cut = Array.from(document.querySelectorAll(".picture")).filter(cut).map((one) => one.closest("section").id);
seen.overflow = document.documentElement.scrollWidth - window.innerWidth;
const result = document.createElement("pre");
result.id = "seen";
result.textContent = JSON.stringify(seen);
document.body.append(result);
"""


def opened(path, width, height):
    """What the script sees on the page; it is let through the page's policy by its hash, as the page's own is."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    text = path.read_text(encoding="utf-8").replace("script-src ", f"script-src 'sha256-{digest}' ")
    acted = path.with_name(f"acted-{width}.html")
    acted.write_text(text.replace("</body>", f"<script>{SCRIPT}</script></body>"), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", f"--window-size={width},{height}"]
    flags += [f"--user-data-dir={path.parent / 'profile'}", "--disable-background-networking"]
    run = subprocess.run([CHROMIUM, *flags, acted.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    return json.loads(html.unescape(re.search(r'<pre id="seen">(.*?)</pre>', run.stdout, re.DOTALL)[1]))


@pytest.fixture(scope="module")
def page(tmp_path_factory, two_pairs):
    data, _ = om.datasets.make_regression(100, n_relevant=3, n_irrelevant=20, random_state=0)
    names = [f"<i>gene</i> {i} & co" for i in range(data.n_features)]
    data = om.Dataset(data.X, data.y, feature_names=names, name="<script>alert(1)</script>")
    ranker = om.EnsembleRanker(n_trees=20, random_state=0, n_jobs=1).fit(data)
    path = tmp_path_factory.mktemp("report") / "report.html"
    ranker.ranking_.report(path, data, ranker=ranker)
    return path, ranker.ranking_


@pytest.fixture(scope="module")
def seen(page):
    return opened(page[0], 1300, 900)


def test_headings_sort_both_ways(seen, page):
    best = page[1].top(len(page[1]))
    assert seen["start"] == seen["once"] == best
    assert seen["twice"] == best[::-1]
    assert seen["sorted"] == "ascending"
    assert seen["names"] == [f"<i>gene</i> {i} & co" for i in range(23)]  # 2 before 10


def test_search_shows_what_fits_and_escape_shows_all(seen):
    assert seen["focus"] == "search"
    n, status = seen["matching"]
    assert 1 <= n < 23
    assert status == f"{n} of 23 features"
    assert seen["all"] == [23, "23 features"]


def test_names_are_texts(seen):
    assert seen["markup"] == 0
    assert seen["title"].startswith("<script>alert(1)</script>")
    assert "<i>gene</i>" in seen["picture"]


def test_the_theme_changes(seen):
    light, dark, again = seen["inks"]
    assert light != dark
    assert again == light


def test_the_csv_file_is_given_out(seen):
    assert seen["file"] == "ranking.csv"
    assert seen["size"] > 23 * 10


def test_it_runs_without_errors_and_asks_nobody_for_anything(seen):
    assert seen["errors"] == []
    assert seen["requests"] == []


def test_nothing_sticks_out_of_a_small_screen_and_no_bar_is_cut(page):
    small = opened(page[0], 500, 800)
    assert small["overflow"] <= 0
    assert small["cut"] == []
