"""The domains of parameters, and the error that names one."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import numpy as np
import pytest

from omnirank.core.parameters import (
    FLAG,
    JOBS,
    SEED,
    TEXT,
    check,
    check_all,
    check_parameters,
    choice,
    count,
    listed,
    number,
    share,
)
from omnirank.errors import ParameterError

NOT_NUMBERS = [None, "1", b"1", 1j, [], [1], object(), np.nan, np.inf, -np.inf, True, np.array([1, 2])]


@pytest.mark.parametrize(
    ("domain", "members", "others"),
    [
        (count(1), [1, np.int64(7), 2**31 - 1], [*NOT_NUMBERS, 0, 1.0, 2**31, 10**400]),
        (count(0, 5), [0, 5], [*NOT_NUMBERS, -1, 6]),
        (number(above=0), [1e-300, 3, np.float32(0.5)], [*NOT_NUMBERS, 0, -1, 10**400, 1e301]),
        (number(0, below=1), [0, 0.5], [*NOT_NUMBERS, 1, -1e-9]),
        (share(), [0, 1, 0.5], [*NOT_NUMBERS, 1.0001, -1]),
        (share(above=0), [1, 1e-9], [*NOT_NUMBERS, 0]),
        (choice("a", "b"), ["a", "b", np.str_("a")], ["c", None, [], np.array(["a", "b"]), object(), 0]),
        (choice("auto", True, False), ["auto", True, False], [1, 0, None, "yes"]),
        (choice("auto", None) | count(1), ["auto", None, 3], [0, "x", True]),
        (FLAG, [True, False, np.True_], [0, 1, None, "yes", []]),
        (JOBS, [None, 1, -1, np.int64(2)], [0, 1.0, True, "all"]),
        (SEED, [None, 0, 2**128 - 1, np.random.default_rng(0)], [-1, 2**128, 1.0, "x", []]),
        (TEXT, ["x"], ["", b"x", None, 3]),
        (listed(count(1)), [[1, 2], (3,), np.array([1, 5])], [[], 3, [0], "12", [1, "a"], {1}]),
        (listed(count(1), different=True), [[1, 2], np.array([1, 5])], [[1, 1], np.array([2, 2]), []]),
        (listed(count(1), or_one=True), [3, [3]], [0, [0], [], None]),
    ],
)
def test_members_of_domains(domain, members, others):
    for value in members:
        assert check("p", value, domain) is value
    for value in others:
        with pytest.raises(ParameterError, match="p="):
            check("p", value, domain)


def test_messages_say_what_was_given_and_what_is_allowed():
    with pytest.raises(ParameterError) as caught:
        check("tie_break", "frist", choice("random", "first", "last"))
    assert str(caught.value) == "tie_break='frist': choose one of random, first, last (did you mean 'first'?)"
    assert (caught.value.name, caught.value.value) == ("tie_break", "frist")
    with pytest.raises(
        ParameterError, match=r"n=0: choose 'auto' or a whole number from 1 to 9 \(the number of rows\)$"
    ):
        check("n", 0, choice("auto") | count(1, 9, "rows"))
    with pytest.raises(ParameterError) as caught:
        check("n", list(range(10**4)), count(1))
    assert len(str(caught.value)) < 300


def test_tables_of_an_estimator_and_its_bases():
    class Base:
        _parameter_checks: ClassVar = {"n": count(1), "flag": FLAG}

        def __init__(self, **parameters):
            self.parameters = parameters

        def get_params(self, deep=True):
            return self.parameters

    class Narrower(Base):
        _parameter_checks: ClassVar = {"n": count(5)}

    check_parameters(Base(n=1))
    check_parameters(Narrower(n=5, flag=True, other=object()))
    for parameters in ({"n": 1}, {"n": 5, "flag": 1}):
        with pytest.raises(ParameterError):
            check_parameters(Narrower(**parameters))
    with pytest.raises(ParameterError, match="b=2"):
        check_all({"a": 1, "b": 2}, {"a": count(1), "b": FLAG})


@pytest.mark.parametrize("value", [0, "x", None, [1, 2], np.arange(3), lambda: 0])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_cross_process_borders(value, again):
    error = ParameterError("p", value, "choose another")
    back = again(error)
    assert type(back) is ParameterError
    assert (str(back), back.name, back.advice) == (str(error), "p", "choose another")
    assert repr(back.value) == repr(value)


def test_errors_about_no_parameter_stay_plain():
    error = ParameterError("give one of both")
    for one in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(one), one.name, one.value, one.advice) == ("give one of both", None, None, "give one of both")
