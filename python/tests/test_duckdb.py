"""The extension of DuckDB: the same rows as Parquet and SQLite have, and errors rather than crashes."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assetq
from assetq._duckdb import EXTENSION, identifier, quoted

duckdb = pytest.importorskip("duckdb")
#: Random statements.
STATEMENTS = int(os.environ.get("ASSETQ_STATEMENTS", "1000"))
#: Real files are compared up to this size, and the largest one of each folder. A debug build takes minutes for all of them.
BYTES = int(os.environ.get("ASSETQ_BYTES", 256 << 10))
#: The kinds that are compared with SQLite, too. It has JSON for nested values, and doubles for floats.
SCALARS = ("bool", "int", "uint", "id64", "id32", "guid", "text")


def files(samples: Path) -> list[str]:
    """A file or folder of every format, and the real files if there are any."""
    real = os.environ.get("ASSETQ_SAMPLES")
    paths = sorted(samples.iterdir())
    for folder in sorted(Path(real).iterdir()) if real else []:
        sizes = {path: path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file()} if folder.is_dir() else {}
        paths += [path for path, size in sizes.items() if size <= BYTES or size == max(sizes.values())]
    return [str(path) for path in paths if is_known(path)]


def is_known(path: Path) -> bool:
    try:
        assetq.open(path)
    except assetq.Error:
        return False
    return True


def tables(file: str) -> Iterator[tuple[str, Any]]:
    asset = assetq.open(file)
    return ((name, asset[name]) for name in asset.tables)


def test_every_table_of_every_file_has_the_rows_of_parquet_and_of_sqlite(samples: Path, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    db = assetq.connect()
    compared = 0
    for file in files(samples):
        for name, table in tables(file):
            where = f"{file} {name}"
            try:
                arrow = pyarrow.table(table)
            except (pyarrow.ArrowException, assetq.Error, OSError):
                with pytest.raises(duckdb.Error):
                    db.execute(f"SELECT * FROM assetq({quoted(file)}, {quoted(name)})").fetchall()
                continue
            parquet.write_table(arrow, tmp_path / "rows.parquet")
            ours, theirs = f"assetq({quoted(file)}, {quoted(name)})", quoted(str(tmp_path / "rows.parquet"))
            described = [db.execute(f"DESCRIBE FROM {each}").fetchall() for each in (ours, theirs)]
            assert [row[:2] for row in described[0]] == [row[:2] for row in described[1]], where
            count = db.execute(f"SELECT count(*) FROM {ours}").fetchall()
            assert count == [(arrow.num_rows,)], where
            # As many rows, and each of one side has its own on the other: they are the same rows.
            more = db.execute(f"SELECT count(*) FROM (FROM {ours} EXCEPT ALL FROM {theirs})").fetchall()
            assert more == [(0,)], where
            scalar = [column.name for column in table.schema if column.kind in SCALARS]
            if scalar and arrow.num_rows <= 20_000:
                names = ", ".join(map(identifier, scalar))
                found = db.execute(f"SELECT {names} FROM {ours}").fetchall()
                asked = assetq.sql(f"SELECT {names} FROM {identifier(name)}", file)
                assert sorted(map(comparable, found)) == sorted(map(comparable, asked)), where
            compared += 1
    assert compared > 100


def comparable(row: Any) -> tuple[str, ...]:
    """A row with one text for equal cells: ids are numbers in Python, and truth values 0 and 1 in SQLite."""
    return tuple(str(int(cell)) if isinstance(cell, bool) else str(cell) for cell in row)


def test_random_statements_have_the_answers_of_parquet(samples: Path, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = random.Random(7)
    db = assetq.connect()
    sources = []
    for file in ("assets.bin", "ship.geometry", "town.wdata", "GameParams.data"):
        for name, table in tables(str(samples / file)):
            path = tmp_path / f"{len(sources)}.parquet"
            parquet.write_table(pyarrow.table(table), path)
            nested = {column.name for column in table.schema if column.kind == "nested"}
            columns = [column.name for column in table.schema if column.name not in nested]
            kinds = {column.name: column.kind for column in table.schema}
            sources.append((f"assetq({quoted(str(samples / file))}, {quoted(name)})", quoted(str(path)), columns, kinds))
    for number in range(STATEMENTS):
        ours, theirs, columns, kinds = rng.choice([source for source in sources if source[2]])
        query = statement(rng, columns, kinds)
        answers = [sorted(map(str, db.execute(query.format(source)).fetchall())) for source in (ours, theirs)]
        assert answers[0] == answers[1], f"{number}: {query.format(ours)}"


def statement(rng: random.Random, columns: list[str], kinds: dict[str, str]) -> str:
    """A statement with ``{}`` in place of its table."""
    some = rng.sample(columns, rng.randint(1, min(3, len(columns))))
    names = [identifier(name).replace("{", "{{").replace("}", "}}") for name in some]
    first, listed = names[0], ", ".join(names)
    is_number = kinds[some[0]] in ("int", "uint")
    wheres = [f"{first} IS NULL", f"{first} IS NOT NULL", f"CAST({first} AS VARCHAR) LIKE '%a%'", "true"]
    wheres += [f"{first} > {rng.randint(0, 50)}", f"{first} % 3 = 1"] if is_number else [f"length({first}::VARCHAR) > 8"]
    where = rng.choice(wheres)
    return rng.choice(
        [
            f"SELECT {listed} FROM {{}} WHERE {where}",
            f"SELECT DISTINCT {listed} FROM {{}} WHERE {where}",
            f"SELECT {listed}, count(*) FROM {{}} WHERE {where} GROUP BY ALL",
            f"SELECT count(*), count({first}), count(DISTINCT {first}), min({first}), max({first}) FROM {{}} WHERE {where}",
            f"SELECT {listed} FROM {{}} ORDER BY ALL LIMIT {rng.randint(1, 40)}",
            f"SELECT count(*) FROM {{0}} a JOIN {{0}} b ON a.{first} = b.{first}",
            f"SELECT a.{first} FROM {{0}} a WHERE EXISTS (FROM {{0}} b WHERE b.{first} = a.{first} AND {where.replace(first, 'b.' + first)})",
            f"SELECT {first}, row_number() OVER (PARTITION BY {first}) FROM {{}}",
        ]
    )


def test_a_file_is_a_table_and_so_is_each_of_its_tables(samples: Path) -> None:
    file = str(samples / "assets.bin")
    db = assetq.connect(file)
    count = len(assetq.open(file)["resources"])
    for source in ("resources", f"'{file}:resources'", f"assetq('{file}', 'resources')", f"assetq('{file}:resources', NULL)"):
        assert db.execute(f"SELECT count(*) FROM {source}").fetchall() == [(count,)], source
    main = assetq.open(file).tables[0]
    assert db.execute(f"DESCRIBE FROM '{file}'").fetchall() == db.execute(f"DESCRIBE FROM {main}").fetchall()
    listed = db.execute(f"FROM assetq_tables('{file}')").fetchall()
    assert {name: columns for name, _, columns in listed} == {
        name: table.column_names for name, table in tables(file)
    }
    big = db.execute(f"""SELECT count(*) FROM assetq('{file}', 'resources', "where" := 'size > 60')""").fetchall()
    assert big == db.execute("SELECT count(*) FROM resources WHERE size > 60").fetchall() != [(0,)]
    id, path = db.execute("SELECT id, path FROM resources").fetchone()
    for key in (id, path):
        assert db.execute(f"SELECT id FROM assetq_get('{file}:resources', {quoted(key)})").fetchall() == [(id,)], key


def test_several_files_are_schemas_and_a_pattern_has_the_column_file(samples: Path) -> None:
    db = assetq.connect(samples / "assets.bin", samples / "altered.bin")
    counts = [db.execute(f"SELECT count(*) FROM {name}.paths").fetchall() for name in ("assets", "altered")]
    assert counts == [[(len(assetq.open(samples / f"{name}.bin")["paths"]),)] for name in ("assets", "altered")]
    pattern = str(samples / "*.splash")
    rows = db.execute(f"SELECT file, count(*) FROM '{pattern}' GROUP BY 1").fetchall()
    assert dict(rows) == {str(path): len(assetq.open(path)["boxes"]) for path in samples.glob("*.splash")}


def test_files_are_called_by_names_that_duckdb_tells_apart(samples: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("old/Item.wdb", "new/item.wdb", "memory.wdb", "temp.wdb", "main.wdb", "pg_catalog.wdb")]
    for number, file in enumerate(files):
        file.parent.mkdir(exist_ok=True)
        sheet = assetq.open(samples / "sheet.wdb")
        sheet.set("r0000000.u7Race", number, table="records")
        sheet.write(file)
    db = assetq.connect(*files)
    names = ["item", "item_2", "memory_2", "temp_2", "main_2", "pg_catalog_2"]
    for number, name in enumerate(names):
        rows = db.execute(f"SELECT u7Race FROM {name}.records WHERE record = 'r0000000'").fetchall()
        assert rows == [(number,)], name
    assert db.cursor().execute(f"FROM {names[-1]}.records").fetchall()


def test_the_database_of_a_user_is_not_written(samples: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.duckdb"
    with duckdb.connect(own) as db:
        db.execute("CREATE VIEW paths AS SELECT 'mine' AS name; CREATE SCHEMA own_2; CREATE VIEW own_2.resources AS SELECT 1")
    file = samples / "assets.bin"
    for read_only in (False, True):
        with assetq.connect(file, database=own, config={"access_mode": "read_only" if read_only else "automatic"}) as db:
            assert db.execute("SELECT name FROM paths").fetchall() == [("mine",)]
            count = len(assetq.open(file)["resources"])
            # Tables of the file are found after the database's own.
            for table in ("resources", "assets.resources"):
                assert db.execute(f"SELECT count(*) FROM {table}").fetchall() == [(count,)]
            assert len(db.execute("FROM assets.paths").fetchall()) == len(assetq.open(file)["paths"])
    (tmp_path / "own.bin").write_bytes(file.read_bytes())
    with assetq.connect(tmp_path / "own.bin", database=own) as db:
        assert db.execute("SELECT count(*) FROM own_3.resources").fetchall() == [(count,)]
    with duckdb.connect(own) as db:
        assert db.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall() == [("paths",), ("resources",)]


def test_an_entry_is_found_by_its_key(samples: Path) -> None:
    file = samples / "assets.bin"
    db = assetq.connect(file)
    id, path, size = db.execute("SELECT id, path, size FROM resources WHERE size IS NOT NULL").fetchone()
    for key in (id, path):
        assert db.execute("SELECT id FROM resources(?)", [key]).fetchall() == [(id,)]
        call = f"assetq('{file}', 'resources', key := ?"
        assert db.execute(f"SELECT id FROM {call})", [key]).fetchall() == [(id,)]
        assert db.execute(f"""SELECT id FROM {call}, "where" := 'size > {size}')""", [key]).fetchall() == []
    assert db.execute("FROM resources('content/nothing')").fetchall() == []
    with pytest.raises(duckdb.Error, match="no entry NULL"):
        db.execute("FROM resources(NULL)")


def test_more_names_and_one_of_several_formats(samples: Path, tmp_path: Path) -> None:
    for name in ("ship.splash", "sheet.wdb"):
        (tmp_path / name).write_bytes((samples / name).read_bytes())
    with pytest.raises(duckdb.Error, match="several formats"):
        assetq.connect(tmp_path)
    with pytest.raises(assetq.Error, match="several formats"):
        assetq.open(tmp_path)
    boxes = len(assetq.open(tmp_path / "ship.splash")["boxes"])
    assert len(assetq.open(tmp_path, format_of="splash")["boxes"]) == boxes
    db = assetq.connect(tmp_path, format_of="splash")
    assert db.execute("SELECT count(*) FROM boxes").fetchall() == [(boxes,)]
    # The names of meshes are in no geometry.
    file, names = str(samples / "ship.geometry"), tmp_path / "names.txt"
    mapping = assetq.open(file)["index_mappings"].columns("mapping_id").dicts().__next__()["mapping_id"]
    text = "render groups are called after their indices"
    assert mapping != assetq.format_id(assetq.name_id(f"{text}.indices"), 32)
    data = bytearray(Path(file).read_bytes())
    old = int(mapping, 16).to_bytes(4, "little")
    at = data.index(old)
    while at >= 0:
        data[at : at + 4] = assetq.name_id(f"{text}.indices").to_bytes(4, "little")
        at = data.find(old, at + 4)
    (tmp_path / "named.geometry").write_bytes(data)
    query = f"SELECT name FROM assetq('{tmp_path / 'named.geometry'}', 'render_groups', names := ['{names}'])"
    names.write_text("another.indices\n")
    assert (text,) not in assetq.connect().execute(query).fetchall()
    # The list was changed.
    names.write_text(f"{text}.indices\n")
    assert (text,) in assetq.connect().execute(query).fetchall()
    db = assetq.connect(tmp_path / "named.geometry", names=[names])
    assert (text,) in db.execute("SELECT name FROM render_groups").fetchall()


def test_wrong_names_are_errors_that_list_what_there_is(samples: Path, tmp_path: Path) -> None:
    file = samples / "assets.bin"
    db = assetq.connect()
    wrong = {
        f"FROM assetq('{file}', 'resourcs')": "resources",
        f"FROM assetq('{file}', NULL, nope := 1)": "nope",
        f"""FROM assetq('{file}', NULL, "where" := 'nam = 3')""": "name",
        f"FROM assetq('{tmp_path / 'absent.bin'}', NULL)": "No such file",
        "FROM 'absent.bin'": "absent.bin: .*No such file",
        "FROM 'absent.vrb:values'": "absent.vrb: .*No such file",
        "FROM absent": "Table with name absent does not exist",
        "FROM assetq(NULL, NULL)": "FILE is NULL",
    }
    for query, said in wrong.items():
        with pytest.raises(duckdb.Error, match=said):
            db.execute(query)
    with pytest.raises(TypeError):
        assetq.connect(file, nope=True)


def test_damaged_rows_are_errors_or_left_out(samples: Path, tmp_path: Path) -> None:
    data = bytearray((samples / "assets.bin").read_bytes())
    first = next(iter(assetq.open(samples / "assets.bin")["paths"].columns("id")))[0]
    key = int(first, 16).to_bytes(8, "little")
    # The path becomes its own parent, through which no path leads.
    at = data.rindex(key)
    data[at + 8 : at + 16] = key
    file = tmp_path / "damaged.bin"
    file.write_bytes(data)
    strict, lenient = assetq.connect(file), assetq.connect(file, skip_damaged=True)
    with pytest.raises(duckdb.Error, match=f"{file}: paths .*offset 0x"):
        strict.execute("SELECT path FROM paths").fetchall()
    damaged = len(assetq.open(file)["paths"]) - len(lenient.execute("SELECT path FROM paths").fetchall())
    assert damaged > 0
    assert strict.execute("SELECT count(id) FROM paths").fetchall() == lenient.execute("SELECT count(*) FROM paths").fetchall()


def test_a_file_that_vanishes_after_the_bind_is_still_read(samples: Path, tmp_path: Path) -> None:
    file = tmp_path / "gone.bin"
    file.write_bytes((samples / "assets.bin").read_bytes())
    db = assetq.connect()
    rows = db.sql(f"SELECT name FROM assetq('{file}', 'paths')")
    file.unlink()
    try:
        assert len(rows.fetchall()) == len(assetq.open(samples / "assets.bin")["paths"])
    except duckdb.Error as error:
        # A relation may be bound again when it runs.
        assert "No such file" in str(error)


def test_a_file_that_vanishes_between_bind_and_scan_is_rows_or_an_error(samples: Path, tmp_path: Path) -> None:
    file = tmp_path / "gone.bin"
    file.write_bytes((samples / "assets.bin").read_bytes())
    db = assetq.connect()
    db.execute(f"PREPARE rows AS SELECT name FROM assetq('{file}', 'paths')")
    file.unlink()
    try:
        assert len(db.execute("EXECUTE rows").fetchall()) == len(assetq.open(samples / "assets.bin")["paths"])
    except duckdb.Error as error:
        assert "No such file" in str(error)


def test_a_file_that_was_replaced_is_read_again(samples: Path, tmp_path: Path) -> None:
    file = tmp_path / "replaced.bin"
    db = assetq.connect()
    for name in ("assets.bin", "altered.bin", "assets.bin"):
        new = tmp_path / "new.bin"
        new.write_bytes((samples / name).read_bytes())
        new.replace(file)
        rows = db.execute(f"SELECT path FROM assetq('{file}', 'paths') ORDER BY ALL").fetchall()
        assert rows == sorted((row[0],) for row in assetq.open(samples / name)["paths"].columns("path")), name


def test_the_command_runs_the_program_duckdb(samples: Path, tmp_path: Path) -> None:
    program, command = (shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
                        for name in ("duckdb", "assetq"))  # fmt: skip
    if not program or not command:
        pytest.skip("pip install duckdb-cli")
    env = {**os.environ, "PATH": str(Path(program).parent), "ASSETQ_DUCKDB_EXTENSION": str(EXTENSION)}
    file = samples / "assets.bin"
    query = "SELECT count(*) AS n FROM paths JOIN resources USING (id)"
    given = [command, "sql", "--engine", "duckdb", query, file, "-f", "json"]
    asked = subprocess.run(given, env=env, capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout) == [{"n": n} for (n,) in assetq.sql(query, file)]
    # What the query cannot do: see SECURITY.md.
    (tmp_path / ".duckdbrc").write_text(".mode csv\nSELECT 'settings';\n")
    env["HOME"] = str(tmp_path)
    given[4] = "SELECT chr(27) || '[2J' AS text"
    shown = subprocess.run(given[:-2], env=env, capture_output=True, text=True)
    assert shown.returncode == 0 and "\\u{1b}[2J" in shown.stdout and "settings" not in shown.stdout, shown.stderr
    for query, said in {
        "SELECT nope FROM paths": "nope",
        ".shell echo hi": "begin with a dot",
        f"COPY paths TO '{tmp_path / 'out.csv'}'": "out.csv",
        f"FROM read_text('{file}')": "disabled by configuration",
        f"ATTACH '{tmp_path / 'x.duckdb'}'": "disabled by configuration",
    }.items():
        given[4] = query
        wrong = subprocess.run(given, env=env, capture_output=True, text=True)
        assert wrong.returncode == 2 and said in wrong.stderr, query
    given[4] = "-"
    typed = subprocess.run(given, env=env, input="SELECT 1 AS n;\n.shell echo hi\n", capture_output=True, text=True)
    assert "hi" not in typed.stdout and "safe mode" in typed.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [".duckdbrc"]


SCRIPT = """
import sys, duckdb, assetq
from assetq._duckdb import quoted
db = assetq.connect()
for file in sys.argv[1:]:
    tables = sys.stdin.readline().split()
    try:
        tables = tables or [quoted(name) for name, *_ in db.execute(f"FROM assetq_tables({quoted(file)})").fetchall()]
    except duckdb.Error:
        pass
    for table in ["NULL", *tables]:
        for skip in (False, True):
            try:
                db.execute(f"FROM assetq({quoted(file)}, {table}, skip_damaged := {skip})").fetchall()
            except duckdb.Error:
                pass
print("done")
"""


def test_damaged_files_are_errors_or_rows_and_never_end_the_process(samples: Path, tmp_path: Path) -> None:
    rng = random.Random(11)
    damaged, names = [], []
    for file in sorted(path for path in samples.iterdir() if path.is_file()):
        if not is_known(file):
            continue
        whole = file.read_bytes()
        for number in range(3):
            data = bytearray(whole)
            if number == 2:
                del data[rng.randrange(len(data)) :]
            for _ in range(8 if data and number < 2 else 0):
                data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
            folder = tmp_path / str(len(damaged))
            folder.mkdir()
            damaged.append(folder / file.name)
            damaged[-1].write_bytes(data)
            names.append(" ".join(map(quoted, assetq.open(file).tables)))
    assert len(damaged) > 30
    read_damaged(damaged, names)


def test_samples_of_the_damage_suite_never_end_the_process() -> None:
    folder = os.environ.get("ASSETQ_DAMAGED")
    if not folder:
        pytest.skip("ASSETQ_DAMAGED is not set: tests/formats/damage.rs")
    damaged = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    assert len(damaged) > 31
    read_damaged(damaged, [""] * len(damaged))


def read_damaged(files: list[Path], tables: list[str]) -> None:
    """Reads files in a process of its own, with and without their damaged rows."""
    given = {"args": [sys.executable, "-c", SCRIPT, *map(str, files)], "input": "\n".join(tables)}
    done = subprocess.run(**given, text=True, capture_output=True, timeout=600)
    assert done.returncode == 0 and done.stdout.strip() == "done", done.stderr[-2000:]
    assert "panicked" not in done.stderr
