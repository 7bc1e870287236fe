#!/usr/bin/env python3
"""Fifteen questions about whole tables: DuckDB over Parquet, the extension of DuckDB, `assetq sql`, and `sqlite3` over an import.

    python3 perf/engines/sql.py [--assetq PATH] [--before PATH] [--extension PATH] [--rounds N] [--threads N]
        [--only TEXT] [--cpu] [--keep DIR]

DuckDB (pip install duckdb) is timed as a query in an open process: over the mapped file by the extension (duckdb/package),
and over the Parquet that `assetq export` wrote. `assetq sql` over the mapped file, and the program `sqlite3` over the database
that `assetq sql --into` wrote, are timed as whole processes. Exports and imports are not counted. `--before` times another build of
the command as well. Every round runs all rivals once. Medians are printed, with the medians of the ratios within a round: of
the extension to Parquet, and of `assetq sql` to `sqlite3`. All answers are compared. `--cpu` counts the time of all processors
rather than time that passes: on a busy machine it is the steadier figure.
"""

import argparse
import csv
import io
import math
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TABLES = ["resources", "skeleton_nodes", "material_properties", "render_sets", "materials", "visuals", "lods"]
QUESTIONS = {
    "group, resources": "SELECT type, count(*) AS n, sum(size) AS bytes FROM resources GROUP BY type ORDER BY n DESC, type",
    "group, skeleton nodes": "SELECT name, count(*) AS n FROM skeleton_nodes GROUP BY name ORDER BY n DESC, name LIMIT 10",
    "group by two, properties":
        "SELECT name, type, count(*) AS n FROM material_properties GROUP BY name, type ORDER BY n DESC, name, type LIMIT 10",
    "join of two":
        "SELECT m.path AS path, count(*) AS sets FROM render_sets s JOIN materials m ON m.id = s.mfm_id "
        "GROUP BY m.path ORDER BY sets DESC, m.path LIMIT 5",
    "filter": "SELECT count(*) AS n, min(id) AS first FROM resources WHERE size > 110 AND type = 'VisualPrototype'",
    "join of three":
        "SELECT v.underwater AS underwater, count(*) AS n, sum(m.property_count) AS properties FROM visuals v "
        "JOIN render_sets s ON s.id = v.id JOIN materials m ON m.id = s.mfm_id GROUP BY v.underwater ORDER BY n DESC",
    "like": "SELECT count(*) AS n, min(path) AS first FROM resources WHERE path LIKE '%Turret%Deck%'",
    "distinct": "SELECT DISTINCT type, parent FROM (SELECT p.type AS type, p.name AS parent FROM material_properties p) "
                "ORDER BY parent, type LIMIT 20",
    "order with limit": "SELECT path, size FROM resources ORDER BY size DESC, path LIMIT 12",
    "group by expression":
        "SELECT length(path) AS length, count(*) AS n, max(size) AS biggest FROM resources GROUP BY length(path) "
        "ORDER BY n DESC, length LIMIT 10",
    "count distinct": "SELECT count(DISTINCT mfm_id) AS materials, count(DISTINCT material_name) AS names FROM render_sets",
    "window":
        "SELECT path, size, place FROM (SELECT path, size, row_number() OVER (PARTITION BY type ORDER BY size DESC, path) AS place "
        "FROM resources) WHERE place <= 2 ORDER BY size DESC, path",
    "average of floats": "SELECT avg(extent) AS extent, max(extent) AS most, count(extent) AS n FROM lods",
    "left join":
        "SELECT count(*) AS n, count(s.id) AS found FROM materials m LEFT JOIN render_sets s ON s.mfm_id = m.id",
    "point": "SELECT path, type, size FROM resources WHERE id = '{id}'",
}
#: How the extension finds an entry: DuckDB passes no conditions to it.
BY_PROBE = {"point": ("FROM resources WHERE id = '{id}'", "FROM assetq_get('{database}:resources', '{id}')")}


def run(*args):
    return subprocess.run([str(arg) for arg in args], check=True, capture_output=True, text=True).stdout


def processor_time():
    """The seconds of all threads of this process, and of the processes that ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def answer_of(*command):
    """The rows that a program prints as CSV."""
    return list(csv.reader(io.StringIO(run(*command))))[1:]


def session(duckdb, threads, extension=None):
    """A connection of DuckDB."""
    db = duckdb.connect(config={"allow_unsigned_extensions": True} | ({"threads": threads} if threads else {}))
    if extension:
        db.execute(f"LOAD '{extension}'")
    return db


def import_tables(assetq, database, imported):
    """Writes the tables into one database of SQLite, without indexes."""
    if imported.exists():
        return
    for table in TABLES:
        single = imported.with_name(f"{table}.sqlite")
        run(assetq, "sql", f"SELECT * FROM {table}", database, "--into", single, "--as-table", table)
        run("sqlite3", imported, f"ATTACH '{single}' AS single; CREATE TABLE {table} AS SELECT * FROM single.{table}")
        single.unlink()
    run("sqlite3", imported, "ANALYZE")


def is_equal(left, right):
    """Whether two answers are equal: sums of floats in another order differ in their last digits."""
    return len(left) == len(right) and all(map(is_equal_row, left, right))


def is_equal_row(left, right):
    return len(left) == len(right) and all(map(is_equal_cell, left, right))


def is_equal_cell(left, right):
    left, right = map(plain, (left, right))
    try:
        return left == right or math.isclose(float(left), float(right), rel_tol=1e-9)
    except ValueError:
        return False


def plain(cell):
    """The text of a cell in CSV: truth values are numbers in SQLite."""
    return {"None": "", "True": "1", "False": "0", "true": "1", "false": "0"}.get(str(cell), str(cell))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--assetq", default="assetq")
    options.add_argument("--before")
    options.add_argument("--extension", default="target/duckdb/assetq.duckdb_extension")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--threads", type=int, help="threads of DuckDB; default: all")
    options.add_argument("--only", default="", help="questions whose names contain this")
    options.add_argument("--cpu", action="store_true", help="count the time of processors")
    options.add_argument("--keep", type=pathlib.Path, help="a folder in which the files remain")
    given = options.parse_args()
    import duckdb

    folder = given.keep or pathlib.Path(tempfile.mkdtemp())
    database = folder / "full" / "assets.bin"
    imported = folder / "imported.sqlite"
    if not database.exists():
        run(given.assetq, "sample", folder / "full", "--size", "full", "--seed", 1)
    parquet, mapped = session(duckdb, given.threads), session(duckdb, given.threads, given.extension)
    for table in TABLES:
        exported = folder / f"{table}.parquet"
        if not exported.exists():
            run(given.assetq, "export", database, "-t", table, "--to", exported)
        parquet.execute(f"CREATE VIEW {table} AS SELECT * FROM '{exported}'")
        mapped.execute(f"CREATE VIEW {table} AS FROM assetq('{database}', '{table}')")
    import_tables(given.assetq, database, imported)
    rivals = {
        "parquet": lambda query: parquet.execute(query).fetchall(),
        "extension": lambda query: mapped.execute(query).fetchall(),
        "assetq sql": lambda query: answer_of(given.assetq, "sql", query, database, "-f", "csv", "-q"),
        "sqlite3": lambda query: answer_of("sqlite3", "-header", "-csv", imported, query),
    }
    if given.before:
        rivals["before"] = lambda query: answer_of(given.before, "sql", query, database, "-f", "csv", "-q")
    place = parquet.execute("SELECT id FROM resources ORDER BY path LIMIT 1 OFFSET 50000").fetchall()[0][0]
    print(f"DuckDB {duckdb.__version__}, {given.rounds} rounds, milliseconds{' of processors' if given.cpu else ''}")
    print(f"{'question':26}" + "".join(f"{name:>11}" for name in rivals) + f"{'extension':>11}{'sql':>9}")
    print(f"{'':26}" + "".join(f"{'':11}" for _ in rivals) + f"{'/ parquet':>11}{'/ sqlite3':>10}")
    ratios = []
    clock = processor_time if given.cpu else time.perf_counter
    for what, question in QUESTIONS.items():
        if given.only not in what:
            continue
        seconds = {name: [] for name in rivals}
        expected = None
        for _ in range(given.rounds):
            for name, ask in rivals.items():
                query = question
                if what in BY_PROBE and name == "extension":
                    query = query.replace(*BY_PROBE[what])
                query = query.format(id=place, database=database)
                start = clock()
                answer = ask(query)
                seconds[name].append(clock() - start)
                expected = expected or answer
                assert is_equal(answer, expected), f"{what}: {name} has {answer[:3]} rather than {expected[:3]}"
        medians = "".join(f"{statistics.median(taken) * 1000:11.2f}" for taken in seconds.values())
        of = {name: statistics.median(a / b for a, b in zip(seconds[name], seconds[other]))
              for name, other in (("extension", "parquet"), ("assetq sql", "sqlite3"))}  # fmt: skip
        ratios.append(of["extension"])
        print(f"{what:26}{medians}{of['extension']:11.2f}{of['assetq sql']:10.2f}", flush=True)
    print(f"extension / parquet: at most 1.0 in {sum(ratio <= 1.0 for ratio in ratios)} of {len(ratios)}, "
          f"at most 1.2 in {sum(ratio <= 1.2 for ratio in ratios)}")  # fmt: skip
    if not given.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
