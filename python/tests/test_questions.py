"""SQL, differences and references."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import plain
import pytest

import assetq


def test_sql_answers_from_one_file_and_from_several(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    answer = db.sql("SELECT type, count(*) AS n, avg(record) AS mean FROM resources GROUP BY type ORDER BY type")
    assert answer.column_names == ["type", "n", "mean"]
    assert [column.kind for column in answer.schema] == ["text", "int", "f64"]
    types: dict[str, int] = {}
    for row in db["resources"].dicts():
        types[row["type"]] = types.get(row["type"], 0) + 1
    assert [(type, n) for type, n, _ in answer] == sorted(types.items()) and len(answer) == len(types)
    assert next(answer.dicts())["n"] == answer.__iter__().__next__()[1]
    both = assetq.sql("SELECT count(*) FROM new.paths", old=db, new=samples / "altered.bin")
    assert list(both) == [(len(plain.paths(samples / "altered.bin")),)]
    positional = assetq.sql("SELECT count(*) FROM boxes", samples / "ship.splash")
    assert list(positional) == [(8,)]


def test_an_answer_goes_to_arrow_with_one_type_a_column(samples: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    db = assetq.open(samples / "assets.bin")
    mixed = db.sql("SELECT 1 AS a, 1 AS b, 'x' AS c UNION ALL SELECT 2.5, NULL, 7")
    assert [column.kind for column in mixed.schema] == ["f64", "int", "any"]
    table = pyarrow.table(mixed)
    assert table.to_pylist() == [{"a": 1.0, "b": 1, "c": "x"}, {"a": 2.5, "b": None, "c": "7"}]
    assert pyarrow.table(db.sql("SELECT id FROM paths WHERE id = 1")).num_rows == 0


def test_a_database_of_sqlite_may_be_among_the_files(samples: Path, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "notes.sqlite") as notes:
        notes.execute("CREATE TABLE seen(path)")
        notes.execute("INSERT INTO seen VALUES ('content')")
    found = assetq.sql(
        "SELECT p.id FROM assets.paths p JOIN notes.seen USING (path)", samples / "assets.bin", tmp_path / "notes.sqlite"
    )
    assert list(found) == [(assetq.format_id(assetq.path_id("content")),)]


def test_a_statement_that_makes_no_sense_is_an_error(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    for query in ("SELEC 1", "SELECT nope FROM paths", "SELECT * FROM nope", "DELETE FROM paths"):
        with pytest.raises(assetq.Error) as raised:
            db.sql(query)
        assert raised.value.kind == "syntax", query


def test_diff_finds_what_changed_between_builds(samples: Path) -> None:
    old, new = samples / "assets.bin", samples / "altered.bin"
    found = assetq.diff(old, new)
    assert len(found) == len(found.items) > 0 and found.damage == []
    before = {own for own, _, _ in plain.paths(old)}
    after = {own for own, _, _ in plain.paths(new)}
    ids = lambda kind: {  # noqa: E731
        assetq.path_id(change.key) for change in found if change.table == "paths" and change.change == kind
    }
    assert ids("added") == after - before and ids("removed") == before - after
    changed = [change for change in found if change.change == "changed"]
    assert changed
    for change in changed:
        assert change.old is not None and change.new is not None and change.old.keys() == change.new.keys()
    assert [c for c in assetq.diff(old, old)] == []
    only = assetq.diff(old, new, tables=["resources"], where='type = "VisualPrototype"')
    assert {change.table for change in only} <= {"resources"}
    with pytest.raises(assetq.Error):
        assetq.diff(old, samples / "ship.splash")


def test_references_go_both_ways(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    sets = list(db["render_sets"].columns("path", "mfm_path").dicts())
    visual, material = next((row["path"], row["mfm_path"]) for row in sets if row["mfm_path"])
    to = assetq.refs(visual, db, from_=False)
    assert material in {reference.path for reference in to} and {r.direction for r in to} == {"to"}
    back = assetq.refs(assetq.path_id(material), db, to=False)
    assert visual in {reference.path for reference in back}
    assert {reference.file for reference in back} == {db.name}
    dangling = assetq.dangling(samples / "assets.bin", samples / "space.bin", samples / "models.bin")
    known = {own for own, _, _ in plain.paths(samples / "assets.bin")}
    known |= {assetq.parse_id(row["id"]) for row in assetq.open(samples / "models.bin")["models"].dicts()}
    assert all(assetq.parse_id(reference.id or "0") not in known for reference in dangling)
