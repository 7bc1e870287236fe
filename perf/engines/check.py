#!/usr/bin/env python3
"""Asks five questions of ten builds, in every engine at hand, and fails where two answers differ.

    python3 perf/engines/check.py [--assetq PATH] [--size small|full] [--keep DIR]

Ten databases are made by `assetq sample`, and exported by `assetq export --partition build=…` into one data set of a
folder for each table. DuckDB and Spark read that; each of them is left out, with a message, where its
Python package is not installed (pip install duckdb pyspark; Spark wants Java, too). `assetq sql` asks the
files themselves, and SQLite what `assetq export` writes as CSV: two readers that Parquet has no part in.
"""

import argparse
import csv
import decimal
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

BUILDS = [f"15.{number}" for number in range(10)]
TABLES = ["resources", "visuals", "render_sets", "materials", "material_properties"]

# Every engine gets the same text. Ids are text; `build` is text, too, as 15.10 is not 15.1.
QUESTIONS = {
    "what came and what went, by type, from the first build to the last": """
        SELECT a.type AS type, 'went' AS what, count(*) AS entries
        FROM resources a LEFT JOIN (SELECT path FROM resources WHERE build = '15.9') b ON a.path = b.path
        WHERE a.build = '15.0' AND b.path IS NULL GROUP BY a.type
        UNION ALL
        SELECT b.type AS type, 'came' AS what, count(*) AS entries
        FROM resources b LEFT JOIN (SELECT path FROM resources WHERE build = '15.0') a ON a.path = b.path
        WHERE b.build = '15.9' AND a.path IS NULL GROUP BY b.type""",
    "which materials most render sets of a build use": """
        SELECT build, path, sets, collision_flags, sort_order FROM (
            SELECT m.build AS build, m.path AS path, m.collision_flags AS collision_flags, m.sort_order AS sort_order,
                   count(*) AS sets,
                   row_number() OVER (PARTITION BY m.build ORDER BY count(*) DESC, m.path) AS place
            FROM render_sets s JOIN materials m ON m.build = s.build AND m.id = s.mfm_id
            GROUP BY m.build, m.path, m.collision_flags, m.sort_order) ranked
        WHERE place <= 5""",
    "how many entries of each type each build has, and how many of them the build before had not": """
        SELECT r.build AS build, r.type AS type, count(*) AS entries,
               sum(CASE WHEN before.path IS NULL THEN 1 ELSE 0 END) AS came
        FROM resources r
        LEFT JOIN (SELECT DISTINCT build, path FROM resources) before
          ON before.path = r.path
         AND before.build = concat('15.', CAST(CAST(substr(r.build, 4) AS INTEGER) - 1 AS VARCHAR(9)))
        GROUP BY r.build, r.type""",
    "which textures most materials use over all builds": """
        SELECT value AS texture, count(DISTINCT concat(build, ' ', path)) AS materials, count(DISTINCT build) AS builds,
               min(build) AS first_build, max(build) AS last_build
        FROM material_properties WHERE type = 'texture' AND value IS NOT NULL
        GROUP BY value ORDER BY materials DESC, texture LIMIT 20""",
    "the visuals with most render sets, the nodes that these hold, and whether they are skinned": """
        SELECT v.build AS build, v.path AS path, v.render_set_count AS sets, sum(s.node_count) AS nodes,
               max(CASE WHEN s.skinned THEN 1 ELSE 0 END) AS skinned, v.underwater AS underwater
        FROM visuals v JOIN render_sets s ON s.build = v.build AND s.id = v.id
        WHERE v.render_set_count >= 2
        GROUP BY v.build, v.path, v.render_set_count, v.underwater
        ORDER BY sets DESC, nodes DESC, path, build LIMIT 25""",
}


def run(*args):
    return subprocess.run([str(arg) for arg in args], check=True, capture_output=True, text=True).stdout


def make(assetq, folder, size):
    """The builds, and the data set of them."""
    for number, build in enumerate(BUILDS):
        sample = folder / "sample"
        run(assetq, "sample", sample, "--seed", number, "--size", size)
        # Files of one name for each build: `assetq sql` calls their tables by it.
        file = folder / f"{stem(build)}.bin"
        (sample / "assets.bin").rename(file)
        shutil.rmtree(sample)
        run(assetq, "export", file, "--table", ",".join(TABLES), "--to", folder / "builds", "--as", "parquet",
            "--partition", f"build={build}")


def stem(build):
    return "build_" + build.replace(".", "_")


def plain(value):
    """A value as all engines mean it."""
    if isinstance(value, decimal.Decimal) and value == int(value):
        return int(value)
    if isinstance(value, bool):
        return int(value)
    return value


def rows_of(rows):
    return sorted((tuple(plain(value) for value in row) for row in rows), key=repr)


class AssetqSql:
    """The files themselves: the tables of ten schemas, one after another."""

    name = "assetq sql"

    def __init__(self, assetq, folder):
        if subprocess.run([assetq, "sql", "--help"], capture_output=True).returncode != 0:
            raise ImportError("this assetq has no sql")
        self.assetq, self.files = assetq, [folder / f"{stem(build)}.bin" for build in BUILDS]

    def ask(self, query):
        views = []
        for table in TABLES:
            selects = [f"SELECT *, '{build}' AS build FROM \"{stem(build)}\".{table}" for build in BUILDS]
            views.append(f"{table} AS ({' UNION ALL '.join(selects)})")
        text = run(self.assetq, "sql", f"WITH {', '.join(views)} {query}", *self.files, "-f", "csv")
        return typed(csv.reader(text.splitlines()))


def typed(lines):
    """The rows of CSV with numbers and truth values as such."""
    next(lines)
    return [tuple(number(cell) for cell in line) for line in lines]


def number(cell):
    if cell in ("", "true", "false"):
        return {"": None, "true": 1, "false": 0}[cell]
    try:
        # A build is text although it looks like a number.
        return int(cell)
    except ValueError:
        return cell


class Sqlite:
    """What `assetq export` writes as CSV, in Python's SQLite."""

    name = "SQLite, from csv"

    def __init__(self, assetq, folder):
        self.db = sqlite3.connect(":memory:")
        self.db.create_function("concat", -1, lambda *parts: "".join(parts))
        for build in BUILDS:
            for table in TABLES:
                text = run(assetq, "export", folder / f"{stem(build)}.bin", "-t", table, "--to", "-", "--as", "csv")
                lines = csv.reader(text.splitlines())
                columns = [*next(lines), "build"]
                names = ", ".join(f'"{column}"' for column in columns)
                self.db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({names})")
                marks = ", ".join("?" * len(columns))
                self.db.executemany(f"INSERT INTO {table} VALUES ({marks})",
                                    ([*map(number, line), build] for line in lines))

    def ask(self, query):
        return self.db.execute(query).fetchall()


class DuckDb:
    name = "DuckDB"

    def __init__(self, _, folder):
        import duckdb

        self.db = duckdb.connect()
        for table in TABLES:
            self.db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{folder}/builds/{table}/**/*.parquet', "
                            "hive_partitioning = true, hive_types = {'build': VARCHAR})")

    def ask(self, query):
        return self.db.execute(query).fetchall()


class Spark:
    name = "Spark"

    def __init__(self, _, folder):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("assetq").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.showConsoleProgress", "false")
        # 15.10 is not 15.1.
        builder = builder.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        for table in TABLES:
            self.spark.read.parquet(f"{folder}/builds/{table}").createOrReplaceTempView(table)

    def ask(self, query):
        return [tuple(row) for row in self.spark.sql(query).collect()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assetq", default="target/dist/assetq", type=pathlib.Path)
    parser.add_argument("--size", default="small", choices=["small", "full"])
    parser.add_argument("--keep", type=pathlib.Path, help="work here, and leave the builds and the data set")
    args = parser.parse_args()
    folder = args.keep or pathlib.Path(tempfile.mkdtemp())
    try:
        make(args.assetq.resolve(), folder, args.size)
        return check(args.assetq.resolve(), folder)
    finally:
        if not args.keep:
            shutil.rmtree(folder)


def check(assetq, folder):
    engines = []
    for engine in (Sqlite, AssetqSql, DuckDb, Spark):
        try:
            engines.append(engine(assetq, folder))
        except ImportError as missing:
            print(f"{engine.name}: left out ({missing})")
    failed = False
    for question, query in QUESTIONS.items():
        print(f"\n{question}")
        expected = None
        for engine in engines:
            start = time.perf_counter()
            rows = rows_of(engine.ask(query))
            took = time.perf_counter() - start
            expected = rows if expected is None else expected
            same = rows == expected
            print(f"  {engine.name:<18} {len(rows):>6} rows {took:>8.3f} s  {'the same' if same else 'DIFFERENT'}")
            if not same or not rows:
                failed = True
                for row in [row for row in rows if row not in expected][:3]:
                    print(f"    only here: {row}")
                for row in [row for row in expected if row not in rows][:3]:
                    print(f"    only in {engines[0].name}: {row}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
