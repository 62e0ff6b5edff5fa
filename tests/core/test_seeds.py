import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnirank.core.seeds import SeedRanges, kernel_seed, root_entropy, stream
from omnirank.errors import ParameterError


def test_none_is_fresh_entropy_each_time():
    drawn = {root_entropy(None) for _ in range(20)}
    assert len(drawn) == 20
    assert max(drawn) > 2**64


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_generators_are_drawn_from(make):
    generator = make(3)
    first, second = root_entropy(generator), root_entropy(generator)
    assert first != second
    assert (first, second) == (root_entropy(again := make(3)), root_entropy(again))
    assert 0 <= first < 2**128


@pytest.mark.parametrize("wrong", [-1, 2**128, 1.5, "seed", [1]])
def test_other_random_states_are_refused(wrong):
    with pytest.raises(ParameterError, match=r"random_state=.*: choose"):
        root_entropy(wrong)


def test_streams_are_numpys_spawned_sequences():
    expected = np.random.default_rng(np.random.SeedSequence(5).spawn(3)[2]).random(4)
    np.testing.assert_array_equal(stream(5, 2).random(4), expected)


def test_streams_and_kernel_seeds_are_all_different():
    keys = [(entropy, key) for entropy in (0, 1, 2**64, 2**127) for key in range(50)]
    assert len({stream(*key).integers(2**63) for key in keys}) == len(keys)
    drawn = {int(kernel_seed(*key)) for key in keys}
    assert len(drawn) == len(keys)
    # nor do they share words with the state of the stream, or with its first child
    states = {
        int(word)
        for key in keys
        for word in np.random.SeedSequence(key[0], spawn_key=(key[1],)).generate_state(8, np.uint64)
    }
    assert not drawn & states


@pytest.mark.parametrize(
    "wrong",
    [*(((1, 3, 3),), ((1, 4, 3),), ((1, -1, 3),), ((-1, 0, 3),)), ((1, 0, 3), (1, 2, 5)), ((1, 0, 3), (1, 0, 3))],
)
def test_ranges_that_are_none_are_refused(wrong):
    with pytest.raises(ParameterError):
        SeedRanges(wrong)


key_sets = st.dictionaries(st.integers(0, 2), st.sets(st.integers(0, 12), min_size=1), min_size=1)


def as_ranges(keys):
    return SeedRanges(tuple((entropy, key, key + 1) for entropy, some in keys.items() for key in some))


@given(key_sets, key_sets)
def test_overlap_and_union_are_those_of_sets(a, b):
    set_a = {(entropy, key) for entropy, keys in a.items() for key in keys}
    set_b = {(entropy, key) for entropy, keys in b.items() for key in keys}
    shared = as_ranges(a).overlap(as_ranges(b))
    assert (shared is not None) == bool(set_a & set_b)
    if shared:
        assert {(shared[0], key) for key in range(shared[1], shared[2])} <= set_a & set_b
    else:
        union = as_ranges(a).union(as_ranges(b))
        assert {(e, key) for e, start, stop in union.ranges for key in range(start, stop)} == set_a | set_b
        assert union == as_ranges(b).union(as_ranges(a))
