"""Opening files, archives and folders; entries; checks; errors."""

from __future__ import annotations

import errno
import pickle
import struct
from pathlib import Path

import plain
import pytest

import assetq


def test_an_address_leads_into_archives_and_games(samples: Path) -> None:
    inner = "content/assets.bin"
    game = assetq.open(samples / "wows")
    direct = assetq.open(f"{samples / 'wows'}:{inner}")
    assert game.format == "wows" and direct.format == "bwdb"
    assert game.open(inner).read() == direct.read() == game.read(inner) == (samples / "assets.bin").read_bytes()
    paths = {row["path"] for row in game["files"].dicts()}
    assert inner in paths
    with pytest.raises(assetq.Error, match="did you mean") as raised:
        game.open("Content/assets.bin")
    assert raised.value.kind == "not_found"
    with pytest.raises(assetq.Error) as raised:
        assetq.open(samples / "ship.splash").open("x")
    assert raised.value.kind == "unsupported"


def test_a_copy_and_bytes_read_as_the_mapped_file(samples: Path) -> None:
    path = samples / "sheet.wdb"
    mapped, copied = assetq.open(path), assetq.open(str(path), mmap=False)
    given = assetq.from_bytes(path.read_bytes(), "sheet.wdb")
    assert list(mapped["records"]) == list(copied["records"]) == list(given["records"])
    assert mapped.size == path.stat().st_size and mapped.name == str(path) and mapped.facts["records"] == 24


def test_cat_gives_dicts_and_lists(samples: Path) -> None:
    save = assetq.open(samples / "savegame.vrb")
    main = save.cat("[Main]")
    assert main["Bounds"]["Max"]["Y"] == 2.5 and main["Tile"]["X"] == 7 and main["Paused"] is True
    assert main["MaybeHandle"] is None
    assert save.cat("Bounds.Max.Y") == 2.5
    db = assetq.open(samples / "assets.bin")
    path = db["visuals"].columns("path").dicts().__next__()["path"]
    by_path, by_id = db.cat(path), db.cat(assetq.path_id(path))
    assert by_path == by_id and by_path["path"] == path and isinstance(by_path["value"]["render_sets"], list)
    with pytest.raises(assetq.Error) as raised:
        db.cat("content/nothing.visual")
    assert raised.value.kind == "not_found"


def test_raw_bytes_of_an_entry(samples: Path) -> None:
    save = assetq.open(samples / "savegame.vrb")
    sizes = {row["name"]: row["size"] for row in save["chunks"].dicts() if row["size"] is not None}
    assert len(save.raw("Vertex_0")) == sizes["Vertex_0"]


def test_verify_finds_a_changed_byte(samples: Path) -> None:
    report = assetq.open(samples / "assets.bin").verify()
    assert report.ok and all(check.ok for check in report.checks)
    data = bytearray((samples / "assets.bin").read_bytes())
    data[-1] ^= 1
    report = assetq.from_bytes(bytes(data), "assets.bin").verify()
    wrong = [check for check in report.checks if not check.ok]
    assert not report.ok and wrong and wrong[0].findings[0].kind == "checksum"
    assert assetq.open(samples / "wows").verify(deep=True).checks


def test_an_error_says_what_where_and_at_which_offset(samples: Path, tmp_path: Path) -> None:
    data = bytearray((samples / "assets.bin").read_bytes())
    data[7] = 9
    with pytest.raises(assetq.Error) as raised:
        assetq.from_bytes(bytes(data), "new.bin")
    error = raised.value
    assert (error.kind, error.file) == ("bad_version", "new.bin") and error.offset is not None
    assert "9" in str(error) and f"{error.offset:#x}" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.kind, again.offset, again.file) == (str(error), error.kind, error.offset, error.file)
    with pytest.raises(assetq.Error) as raised:
        assetq.open(tmp_path / "nothing")
    assert raised.value.kind == "io"
    with pytest.raises(assetq.Error) as raised:
        assetq.from_bytes(b"nothing that is known")
    assert raised.value.kind == "unknown_format"


def test_no_bytes_bring_python_down(samples: Path) -> None:
    """Truncated and changed files end in an error, never in a panic."""
    for name in ("assets.bin", "ship.geometry", "savegame.vrb", "sheet.wdb", "town.wdata", "ship.splash"):
        whole = (samples / name).read_bytes()
        for length in range(0, len(whole), max(1, len(whole) // 12)):
            data = bytearray(whole)
            data[length : length + 4] = struct.pack("<I", 0xFFFF_FFF0)
            for given in (whole[:length], bytes(data)):
                try:
                    asset = assetq.from_bytes(given, name)
                    asset.verify()
                    for table in asset:
                        sum(1 for _ in asset[table].skip_damaged())
                except assetq.Error as error:
                    assert error.kind


def test_samples_stay_where_others_lie(samples: Path, tmp_path: Path) -> None:
    made = assetq.sample(tmp_path, seed=7)
    assert str(tmp_path / "assets.bin") in made
    assert assetq.sample(tmp_path, seed=7) == made
    (tmp_path / "assets.bin").write_bytes(b"mine")
    with pytest.raises(assetq.Error) as raised:
        assetq.sample(tmp_path, seed=7)
    assert raised.value.kind == "io" and (tmp_path / "assets.bin").read_bytes() == b"mine"
    assert len(plain.paths(samples / "assets.bin")) == 68


def test_what_is_missing_is_caught_as_python_programs_do(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    with pytest.raises(KeyError, match="did you mean paths") as missing:
        db["pahts"]
    assert isinstance(missing.value, assetq.Error) and missing.value.kind == "not_found"
    assert "'" not in str(missing.value)
    with pytest.raises(KeyError, match="did you mean name"):
        db["paths"].columns("nmae")
    with pytest.raises(KeyError):
        db.cat("content/nothing.visual")
    with pytest.raises(FileNotFoundError) as absent:
        assetq.open(samples / "nothing.bin")
    assert isinstance(absent.value, assetq.Error) and absent.value.errno == errno.ENOENT
    assert absent.value.filename == str(samples / "nothing.bin")
    game = assetq.open(samples / "wows")
    with pytest.raises(FileNotFoundError):
        game.open("content/nothing.bin")
    for error in (missing.value, absent.value):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and again.kind == error.kind
