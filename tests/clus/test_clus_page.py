"""The page for users of CLUS says of every setting what happens to it."""

from pathlib import Path

from omnirank.clus.known_settings import DEFAULTS, INSTEAD, OTHER_SECTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "user_guide" / "clus.md").read_text(encoding="utf-8")


def part_of(section: str) -> str:
    """What the page says about a section, in one line."""
    return " ".join(PAGE.split(f"### [{section}]\n")[1].split("###")[0].split())


def test_every_setting_is_on_the_page():
    for section, names in DEFAULTS.items():
        text = part_of(section)
        assert [name for name in names if f"`{name}`" not in text] == [], section


def test_what_is_not_followed_is_said_in_the_same_words():
    for (section, name), instead in INSTEAD.items():
        refused = part_of(section).split("Not followed:")[1]
        bullet = next(part for part in refused.split("* ") if f"`{name}`" in part)
        assert bullet.strip().rstrip(".").endswith(instead), name


def test_other_sections_are_on_the_page():
    for section, what in OTHER_SECTIONS.items():
        assert f"`[{section}]` ({what})" in " ".join(PAGE.split())
