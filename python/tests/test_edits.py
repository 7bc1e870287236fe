"""Files that are edited, closed, and read by name."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import assetq
import pytest


def test_a_value_is_set_in_a_copy(samples: Path, tmp_path: Path) -> None:
    with assetq.open(samples / "sheet.wdb") as sheet:
        before = sheet.cat("r0000005")["u7Race"]
        sheet.set("r0000005.u7Race", 3)
        sheet.write(tmp_path / "new.wdb")
        assert sheet.cat("r0000005")["u7Race"] == before != 3
    new = assetq.open(tmp_path / "new.wdb")
    assert new.cat("r0000005")["u7Race"] == 3 and new.verify().ok


def test_a_patch_is_rows_or_a_file_of_them(samples: Path, tmp_path: Path) -> None:
    rows = [{"table": "records", "change": "changed", "key": f"r000000{n}", "new": {"u7Race": n}} for n in (1, 2)]
    (tmp_path / "changes.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for number, changes in enumerate([rows, tmp_path / "changes.ndjson"]):
        sheet = assetq.open(samples / "sheet.wdb")
        sheet.patch(changes)
        sheet.write(tmp_path / f"{number}.wdb")
        assert [assetq.open(tmp_path / f"{number}.wdb").cat(f"r000000{n}")["u7Race"] for n in (1, 2)] == [1, 2]


def test_what_does_not_fit_is_an_error_and_changes_nothing(samples: Path, tmp_path: Path) -> None:
    sheet = assetq.open(samples / "sheet.wdb")
    for entry, value in [("r0000005.u7Race", 128), ("r0000005.nothing", 1), ("r9999999.u7Race", 1)]:
        with pytest.raises(assetq.Error):
            sheet.set(entry, value)
    with pytest.raises(assetq.Error):
        sheet.patch([{"table": "records", "change": "changed", "key": "r9999999", "new": {"u7Race": 1}}])
    sheet.write(tmp_path / "same.wdb")
    assert (tmp_path / "same.wdb").read_bytes() == (samples / "sheet.wdb").read_bytes()
    with pytest.raises(assetq.Error):
        sheet.write(tmp_path / "same.wdb")
    sheet.write(tmp_path / "same.wdb", overwrite=True)


def test_a_closed_file_says_so(samples: Path) -> None:
    with assetq.open(samples / "sheet.wdb") as sheet:
        table = sheet["records"]
    with pytest.raises(assetq.Error, match="was closed"):
        sheet.cat("r0000005")
    # What was taken from it goes on.
    assert len(table) > 0
    sheet.close()


def test_cells_have_names(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    for row in db["resources"]:
        assert row["size"] == row[db["resources"].column_names.index("size")]
    assert pickle.loads(pickle.dumps(row)) == row
    with pytest.raises(KeyError, match="no column 'weight'; there are"):
        row["weight"]
    (answer,) = db.sql("SELECT count(*) AS n, max(size) AS most FROM resources")
    assert (answer["n"], answer["most"]) == answer
