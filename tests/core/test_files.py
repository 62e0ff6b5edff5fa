"""Files of arrays: every bit comes back, and nothing in a changed file is believed."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from omnirank.core.files import StoredArrays, narrowest, packed_arrays, replacing
from omnirank.errors import FileFormatError

HEADING = {"format": "example", "version": 1}


def stored(content):
    return StoredArrays(content, "there", "example", 1, "an example")


def archive_of(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", '{"format": "example", "version": 1}')
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def npy(array, **more):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **more)
    return file.getvalue()


FLOATS = npst.arrays(np.float64, npst.array_shapes(max_dims=2, min_side=0), elements=st.floats(allow_subnormal=True))
SMALL = npst.arrays(np.float64, 5, elements=st.sampled_from([0.0, -0.0, 1.0, 255.0, 256.0, 70000.0, 0.5, 2.0**40]))
INTEGERS = npst.arrays(np.int64, 5, elements=st.integers(-(2**63), 2**63 - 1) | st.integers(-200, 300))


@pytest.mark.slow
@given(FLOATS | SMALL | INTEGERS)
def test_narrow_types_keep_every_bit(array):
    back = narrowest(array).astype(array.dtype)
    assert back.tobytes() == array.tobytes()


SETS = npst.arrays(np.uint64, 5, elements=st.integers(0, 300) | st.integers(2**64 - 300, 2**64 - 1))


@given(SMALL | SETS)
def test_arrays_come_back(array):
    content = packed_arrays(HEADING, {"a": array})
    found = stored(content).take("a", array.dtype, (5,))
    assert found.tobytes() == array.tobytes()
    assert found.flags.writeable


def test_headers_come_back_with_any_name():
    heading = HEADING | {"names": ["ü", "\ud800", "\ud83d\ude00", "a\0"]}
    assert stored(packed_arrays(heading, {})).header == heading


@pytest.mark.parametrize(
    ("array", "dtype", "shape", "problem"),
    [
        ([1, 2], np.int32, (3,), "array 'a' has shape 2, not 3"),
        ([1, 2], np.int32, (2, 1), "array 'a' has shape 2, not 2 x 1"),
        ([[1, 2]], np.int32, (1, 3), "array 'a' has shape 1 x 2, not 1 x 3"),
        ([1, -2], np.uint8, (2,), "a number that uint8 does not hold"),
        ([1, 2**40], np.int32, (2,), "a number that int32 does not hold"),
        ([0.5], np.int32, (1,), "does not hold whole numbers"),
        ([np.nan], np.float64, (1,), "not finite"),
        ([np.inf], np.float64, (None,), "not finite"),
    ],
)
def test_arrays_of_other_types_and_shapes_are_refused(array, dtype, shape, problem):
    found = stored(packed_arrays(HEADING, {"a": np.array(array)}))
    with pytest.raises(FileFormatError, match=f"there: .*{problem}"):
        found.take("a", dtype, shape)


def test_floats_are_packed_byte_by_byte():
    noise = np.random.default_rng(0).normal(size=(1000, 5))
    content = packed_arrays(HEADING, {"a": noise})
    assert len(content) < 0.93 * noise.nbytes
    assert stored(content).take("a", np.float64, (1000, 5)).tobytes() == noise.tobytes()
    for broken in (np.zeros((7, 3), np.uint8), np.zeros((8, 3), np.int16)):
        with pytest.raises(FileFormatError, match=r"damaged|has shape"):
            stored(archive_of(**{"a.bytes": npy(broken)})).take("a", np.float64, (3,))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"no array", "does not hold numbers"),
        (npy(np.arange(3.0))[:-1], "damaged"),
        (npy(np.array(["a"])), "does not hold numbers"),
        (npy(np.array([True])), "does not hold numbers"),
        (npy(np.array([None]), allow_pickle=True), "damaged"),
        (npy(np.arange(3.0)).replace(b"(3,)", b"(-3)"), "damaged"),
        (npy(np.arange(3.0)).replace(b"(3,)", b"(9,)"), "damaged"),
        (npy(np.arange(3.0)).replace(b"'<f8'", b"[1,2]"), "damaged"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(content, problem):
    with pytest.raises(FileFormatError, match=problem):
        stored(archive_of(a=content)).take("a", np.float64, (3,))


def test_parts_that_lack_or_are_too_many_are_refused():
    found = stored(archive_of(a=npy(np.arange(3)), b=npy(np.arange(3))))
    with pytest.raises(FileFormatError, match="there is no array 'c'"):
        found.take("c", np.int64, (3,))
    found.take("a", np.int64, (3,))
    assert found.has("b")
    assert not found.has("a")
    with pytest.raises(FileFormatError, match="'b' does not belong"):
        found.finish()


def test_changed_bytes_are_noticed():
    content = packed_arrays(HEADING, {"a": np.random.default_rng(0).random(50)})
    for at in range(content.index(b"a.bytes.npy") + 18, content.index(b"PK\x01") - 8, 7):
        changed = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        with pytest.raises(FileFormatError, match="damaged"):
            stored(changed).take("a", np.float64, (50,))


# -- files that appear whole or not at all, whoever else writes them -------------------------------


def test_two_writers_of_one_process_do_not_share_an_unfinished_file(tmp_path):
    path = tmp_path / "a.txt"
    with replacing(path) as first:
        first.write(b"first, ")
        with replacing(path) as second:
            second.write(b"2")
        assert path.read_bytes() == b"2"
        first.write(b"whole")
    assert path.read_bytes() == b"first, whole"
    assert list(tmp_path.iterdir()) == [path]
