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
    return StoredArrays(content, "there", "example", range(1, 2), "an example")


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


@given(SMALL)
def test_arrays_come_back(array):
    content = packed_arrays(HEADING, {"a": array})
    found = stored(content).take("a", np.float64, (5,))
    assert found.tobytes() == array.tobytes()
    assert found.flags.writeable


def test_headers_come_back_with_any_name():
    heading = HEADING | {"names": ["ü", "\ud800", "\ud83d\ude00", "a\0"]}
    assert stored(packed_arrays(heading, {})).header == heading


def test_repetitions_are_packed_and_of_noise_the_highest_bytes():
    noise = np.random.default_rng(0).normal(size=(1000, 5))
    content = packed_arrays(HEADING, {"noise": noise, "same": np.tile(noise[:3, 0], 1000), "few": noise[0]})
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        assert found.getinfo("noise.low.npy").compress_type == zipfile.ZIP_STORED
        assert found.getinfo("noise.high.npy").compress_size < 2000
        assert found.getinfo("same.npy").compress_size < 1000
        assert "few.npy" in found.namelist()
    assert stored(content).take("noise", np.float64, (1000, 5)).tobytes() == noise.tobytes()


@pytest.mark.parametrize(
    "halves",
    [
        {"a.low": np.zeros((3, 7), np.uint8), "a.high": np.zeros(2, np.uint8)},
        {"a.low": np.zeros((3, 6), np.uint8), "a.high": np.zeros(3, np.uint8)},
        {"a.low": np.zeros((3, 7), np.int8), "a.high": np.zeros(3, np.uint8)},
        {"a.low": np.zeros((3, 7), np.uint8), "a.high": np.zeros(3)},
        {"a.low": np.zeros((3, 7), np.uint8)},
    ],
)
def test_halves_that_do_not_go_together_are_refused(halves):
    with pytest.raises(FileFormatError, match=r"do not go together|there is no array"):
        stored(archive_of(**{name: npy(half) for name, half in halves.items()})).take("a", np.float64, (3,))


@pytest.mark.parametrize(
    ("array", "dtype", "shape", "problem"),
    [
        ([1, 2], np.int32, (3,), "array 'a' has shape 2, not 3"),
        ([1, 2], np.int32, (2, 1), "array 'a' has shape 2, not 2 x 1"),
        ([[1, 2]], np.int32, (1, 3), "array 'a' has shape 1 x 2, not 1 x 3"),
        ([1, -2], np.uint8, (2,), "outside of 0 to 255"),
        ([1, 2**40], np.int32, (2,), "outside of"),
        ([0.5], np.int32, (1,), "does not hold whole numbers"),
        ([np.nan], np.float64, (1,), "not finite"),
        ([np.inf], np.float64, (None,), "not finite"),
    ],
)
def test_arrays_of_other_types_and_shapes_are_refused(array, dtype, shape, problem):
    found = stored(packed_arrays(HEADING, {"a": np.array(array)}))
    with pytest.raises(FileFormatError, match=f"there: .*{problem}"):
        found.take("a", dtype, shape)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"no array", "damaged"),
        (npy(np.arange(3.0))[:-1], "damaged"),
        (npy(np.arange(3.0)) + b"more and more", "damaged"),
        (npy(np.array(["a"])), "no plain numbers"),
        (npy(np.array([True])), "no plain numbers"),
        (npy(np.array([None]), allow_pickle=True), "no plain numbers"),
        (npy(np.arange(3.0).astype(">f8")), "no plain numbers"),
        (npy(np.asfortranarray(np.ones((2, 2)))), "no plain numbers"),
        (npy(np.arange(3.0), version=(2, 0)), "unknown version"),
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
    with pytest.raises(FileFormatError, match=r"'b\.npy' does not belong"):
        found.finish()


def test_a_part_that_is_there_twice_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("header.json", "{}")
    with pytest.raises(FileFormatError, match="twice"):
        stored(file.getvalue())


def test_claims_of_sizes_are_not_believed():
    content = bytearray(packed_arrays(HEADING, {"a": np.zeros(5000)}))
    at = content.rindex(b"a.npy") - 46 + 24  # the size in the directory of the archive
    content[at : at + 4] = (2**31).to_bytes(4, "little")
    with pytest.raises(FileFormatError, match=r"'a\.npy' (is packed in a way|is damaged)"):
        stored(bytes(content)).take("a", np.float64, (5000,))


def test_single_changed_bytes_are_noticed():
    noise = np.random.default_rng(0).random(50)
    content = packed_arrays(HEADING, {"a": noise})
    start = content.index(noise.tobytes())
    for at in range(start, start + 400, 7):
        changed = bytearray(content)
        changed[at] ^= 1
        with pytest.raises(FileFormatError, match="damaged"):
            stored(bytes(changed)).take("a", np.float64, (50,))


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
