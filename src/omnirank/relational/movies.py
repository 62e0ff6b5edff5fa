"""A generated database of which it is known what matters: movies, their ratings, the users who rate, their nations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.parameters import check, count, number, share
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import RandomState
from omnirank.relational.dataset import RelationalDataset

_STARS_OF_HITS = 5.5
_AGE_OF_DRAMAS = 42.0
_NATIONS = {
    "Africa": ("Egypt", "Kenya"),
    "America": ("Brazil", "Chile", "Peru"),
    "Asia": ("India", "Japan"),
    "Europe": ("Austria", "France", "Italy", "Slovenia", "Spain"),
}
_KEYS = {
    "movies": "id",
    "users": "id",
    "nations": "id",
    "ratings": "id",
    "ratings.movie_id": "movies",
    "ratings.user_id": "users",
    "users.nation_id": "nations",
}


def make_movies(
    n_movies: int = 200,
    n_users: int = 150,
    mean_ratings: float = 8.0,
    noise: float = 0.05,
    *,
    as_frames: bool = False,
    random_state: RandomState = None,
) -> Any:
    """Generate a database of movies, whose genre depends on their ratings and on who gave them.

    A movie is a thriller unless the mean of its stars is above 5.5; then it is a drama if the mean age of those who
    rated it is above 42, else a comedy. So the stars of ratings and the age of users matter, with the links that lead
    to them; year, length and country of a movie, weekday of a rating, gender, nation and region do not.

    Parameters
    ----------
    n_movies, n_users : int
        Numbers of movies (the examples) and of users.
    mean_ratings : float
        Mean number of ratings of a movie; each has one at least.
    noise : float in [0, 1]
        Share of the movies that have another genre than the rule says.
    as_frames : bool
        Whether to return the tables as pandas DataFrames by name.
    random_state : None, int, RandomState or Generator
        Seed; the same seed gives the same data.

    Returns
    -------
    RelationalDataset or dict of str to DataFrame
        The data, with the target ``movies.genre``; or the tables movies, ratings, users and nations.

    Examples
    --------
    >>> from omnirank.datasets import make_movies
    >>> make_movies(random_state=0)
    <RelationalDataset 'movies': 200 examples, 4 tables, 12 relations, classification, 200 labelled>
    >>> make_movies(5, as_frames=True, random_state=0)["movies"].columns.tolist()
    ['id', 'year', 'minutes', 'country', 'genre']
    """
    check("n_movies", n_movies, count(1))
    check("n_users", n_users, count(1))
    check("mean_ratings", mean_ratings, number(1))
    check("noise", noise, share())
    frames = _frames(n_movies, n_users, mean_ratings, noise, stream(root_entropy(random_state), 0))
    if as_frames:
        return frames
    return RelationalDataset.from_frames(frames, keys=_KEYS, target="movies.genre", name="movies")


def _frames(
    n_movies: int, n_users: int, mean_ratings: float, noise: float, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    region_of = {nation: region for region, members in _NATIONS.items() for nation in members}
    names = sorted(region_of)
    nations = pd.DataFrame({"id": np.arange(1, len(names) + 1), "name": names, "region": [region_of[n] for n in names]})
    age = np.sort(rng.integers(16, 71, n_users))
    users = pd.DataFrame(
        {
            "id": np.arange(1, n_users + 1),
            "age": age,
            "gender": rng.choice(["f", "m"], n_users),
            "nation_id": rng.integers(1, len(names) + 1, n_users),
        }
    )
    movie = np.repeat(np.arange(n_movies), 1 + rng.poisson(mean_ratings - 1, n_movies))
    # the users of a movie are about as old as its audience, and its stars are about as many as it deserves
    audience = rng.normal(0.5, 0.35, n_movies)[movie] + rng.normal(0, 0.25, len(movie))
    user = np.clip((audience * n_users).astype(int), 0, n_users - 1)
    stars = np.clip(np.round(rng.normal(5.7, 2.0, n_movies)[movie] + rng.normal(0, 1.0, len(movie))), 1, 10)
    ratings = pd.DataFrame(
        {
            "id": np.arange(1, len(movie) + 1),
            "movie_id": movie + 1,
            "user_id": user + 1,
            "stars": stars.astype(int),
            "weekday": rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], len(movie)),
        }
    )
    movies = pd.DataFrame(
        {
            "id": np.arange(1, n_movies + 1),
            "year": rng.integers(1950, 2021, n_movies),
            "minutes": rng.integers(70, 181, n_movies),
            "country": rng.choice(names, n_movies),
            "genre": _genres(movie, stars, age[user], n_movies, noise, rng),
        }
    )
    return {"movies": movies, "nations": nations, "ratings": ratings, "users": users}


def _genres(
    movie: np.ndarray, stars: np.ndarray, age: np.ndarray, n_movies: int, noise: float, rng: np.random.Generator
) -> np.ndarray:
    n_ratings = np.bincount(movie, minlength=n_movies)
    mean_stars = np.bincount(movie, stars, n_movies) / n_ratings
    mean_age = np.bincount(movie, age, n_movies) / n_ratings
    genre = np.where(mean_stars > _STARS_OF_HITS, np.where(mean_age > _AGE_OF_DRAMAS, 1, 0), 2)
    wrong = rng.permutation(n_movies)[: round(noise * n_movies)]
    genre[wrong] = (genre[wrong] + rng.integers(1, 3, len(wrong))) % 3
    return np.array(["comedy", "drama", "thriller"], object)[genre]
