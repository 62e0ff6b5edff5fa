"""Numbers in words: 1 target, 2 targets; 1st, 2nd."""

from __future__ import annotations

_ORDINALS = {1: "st", 2: "nd", 3: "rd"}
_IRREGULAR = {"leaf": "leaves", "class": "classes", "category": "categories"}


def counted(number: int, what: str) -> str:
    """Return a number and what it counts, in the plural unless it is 1.

    Examples
    --------
    >>> counted(1, "target"), counted(0, "feature"), counted(2, "leaf")
    ('1 target', '0 features', '2 leaves')
    """
    return f"{number} {what if number == 1 else _IRREGULAR.get(what, f'{what}s')}"


def there_are(number: int, what: str) -> str:
    """Return how many there are, as a clause.

    Examples
    --------
    >>> there_are(1, "column"), there_are(3, "column")
    ('there is 1 column', 'there are 3 columns')
    """
    return f"there {'is' if number == 1 else 'are'} {counted(number, what)}"


def ordinal(number: int) -> str:
    """Return a place in a row.

    Examples
    --------
    >>> [ordinal(place) for place in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    ending = "th" if number % 100 in (11, 12, 13) else _ORDINALS.get(number % 10, "th")
    return f"{number}{ending}"
