"""The report in a real browser: it sorts, searches, downloads and asks nobody for anything."""

from __future__ import annotations

import pytest

import omnirank as om
from tools.browser import VARIABLE, Browser, find_browser

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason=f"no Chromium is installed: {VARIABLE} may name one; the report was not opened"
    ),
    pytest.mark.usefixtures("two_pairs"),
]
FIRST = "document.querySelector('#all-features-table tbody tr').cells[1].textContent"
SHOWN = "document.querySelectorAll('#all-features-table tbody tr:not([hidden])').length"


@pytest.fixture(scope="module")
def page(tmp_path_factory, two_pairs):
    data, _ = om.datasets.make_regression(100, n_relevant=3, n_irrelevant=20, random_state=0)
    names = [f"<i>gene</i> {i} & co" for i in range(data.n_features)]
    data = om.Dataset(data.X, data.y, feature_names=names, name="<script>alert(1)</script>")
    ranker = om.EnsembleRanker(n_trees=20, random_state=0, n_jobs=1).fit(data)
    path = tmp_path_factory.mktemp("report") / "report.html"
    ranker.ranking_.report(path, data, ranker=ranker, seconds=0.2)
    return path, ranker.ranking_


@pytest.fixture
def browser(page):
    with Browser(CHROMIUM) as found:
        found.open(page[0])
        yield found
        # whatever a test does
        assert found.errors == []
        assert [url for url in found.requests if not url.startswith(("data:", "blob:"))] == [page[0].as_uri()]


def click(browser, place):
    browser.value(f"document.querySelectorAll('#all-features-table thead button')[{place}].click()")


def test_headings_sort_both_ways(browser, page):
    ranking = page[1]
    assert browser.value(FIRST) == ranking.top(1)[0]
    click(browser, 2)
    assert browser.value(FIRST) == ranking.top(1)[0]
    click(browser, 2)
    assert browser.value(FIRST) == ranking.top(len(ranking))[-1]
    assert (
        browser.value("document.querySelectorAll('#all-features-table th')[2].getAttribute('aria-sort')") == "ascending"
    )
    click(browser, 1)
    assert browser.value(FIRST) == "<i>gene</i> 0 & co"
    names = "Array.from(document.querySelectorAll('#all-features-table tbody tr'), row => row.cells[1].textContent)"
    assert browser.value(names) == [f"<i>gene</i> {i} & co" for i in range(23)]  # 2 before 10


def test_search_shows_what_fits_and_escape_shows_all(browser):
    browser.press("/", "/")
    assert browser.value("document.activeElement.type") == "search"
    browser.write("gene 2")
    assert browser.value(SHOWN) >= 4
    browser.write("1")
    assert browser.value(SHOWN) < 23
    status = "document.querySelector('[role=status]').textContent"
    assert browser.value(status) == f"{browser.value(SHOWN)} of 23 features"
    browser.press("Escape")
    assert browser.value(SHOWN) == 23
    assert browser.value(status) == "23 features"


def test_the_keyboard_reaches_a_heading(browser, page):
    browser.value("document.querySelectorAll('#all-features-table thead button')[0].focus()")
    browser.press("Tab")
    browser.press("Tab")
    browser.press("Enter")
    browser.press("Enter")
    assert browser.value(FIRST) == page[1].top(len(page[1]))[-1]


def test_names_are_texts(browser):
    assert browser.value("document.querySelectorAll('section i i, svg i, td i i, h1 script').length") == 0
    assert browser.value("document.title").startswith("<script>alert(1)</script>")
    assert "<i>gene</i>" in browser.value("document.querySelector('#top svg').textContent")


def test_the_theme_changes(browser):
    ink = "getComputedStyle(document.body).color"
    before = browser.value(ink)
    browser.value("document.getElementById('theme').click()")
    assert browser.value(ink) != before
    browser.value("document.getElementById('theme').click()")
    assert browser.value(ink) == before


def test_the_csv_file_is_given_out(browser, page):
    browser.value(
        "window.made = null; const create = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { window.made = blob; return create(blob); }"
    )
    browser.value("HTMLAnchorElement.prototype.click = function () { window.named = this.download; }")
    browser.value("document.querySelector('button[data-file]').click()")
    assert browser.value("window.named") == "ranking.csv"
    lines = browser.value("window.made.text()").splitlines()
    assert len(lines) == 1 + len(page[1])


def test_nothing_sticks_out_of_a_small_screen(page):
    with Browser(CHROMIUM, width=500, height=800) as found:
        found.open(page[0])
        assert found.value("document.documentElement.scrollWidth <= window.innerWidth")
