"""Files that appear whole or not at all, whoever else writes them."""

from __future__ import annotations

from omnirank.core.files import replacing


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
