#!/usr/bin/env python3
"""Four questions about whole tables, and one about 10,000 files: `assetq sql` next to DuckDB over Parquet.

    python3 perf/engines/sql.py [--assetq PATH] [--before PATH] [--datafusion PATH] [--rounds N] [--files N] [--keep DIR]

`assetq` is timed as a whole process over the mapped files. DuckDB (pip install duckdb) is timed as a query in an open
process over what `assetq export` wrote as Parquet; reading the files into Parquet is not counted. `--before` times
another build of the command as well, and `--datafusion` DataFusion over the mapped files: the example `shell` of the package
in `datafusion/`, as a query in an open process and as a whole process. Every round runs all rivals once; medians are printed, with the ratio to DuckDB
in the same round. All answers are compared first.
"""

import argparse
import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TABLES = ["resources", "skeleton_nodes", "material_properties", "render_sets", "materials"]
QUESTIONS = {
    "group by, all resources":
        "SELECT type, count(*) AS n, sum(size) AS bytes FROM resources GROUP BY type ORDER BY n DESC, type",
    "group by, all skeleton nodes":
        "SELECT name, count(*) AS n FROM skeleton_nodes GROUP BY name ORDER BY n DESC, name LIMIT 10",
    "group by two, all material properties":
        "SELECT name, type, count(*) AS n FROM material_properties GROUP BY name, type ORDER BY n DESC, name, type LIMIT 10",
    "join of render sets and materials":
        "SELECT m.path AS path, count(*) AS sets FROM render_sets s JOIN materials m ON m.id = s.mfm_id "
        "GROUP BY m.path ORDER BY sets DESC, m.path LIMIT 5",
}
MANY = "SELECT file, count(*) AS n FROM vertex_buffers GROUP BY file ORDER BY n DESC, file LIMIT 3"


def run(*args):
    return subprocess.run([str(arg) for arg in args], check=True, capture_output=True, text=True).stdout


def timed(command):
    """The seconds and the peak memory in MB of a process, and its output."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    return time.perf_counter() - start, usage.ru_maxrss / 1024, out.decode()


class Shell:
    """DataFusion over the mapped files, in an open process."""

    def __init__(self, binary, database):
        command = [binary, "--time", str(database)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, query):
        """The seconds that the shell measured, and its table."""
        self.process.stdin.write(query + "\n")
        self.process.stdin.flush()
        lines = []
        while not (line := self.process.stdout.readline()).startswith("-- "):
            assert line, "the shell has ended"
            lines.append(line)
        return float(line.split()[1]), "".join(lines)


def read_table(text):
    """The rows of a table with borders."""
    lines = [line.strip("|\n ").split("|") for line in text.splitlines() if line.startswith("|")]
    return [tuple(int(cell) if cell.lstrip("-").isdigit() else cell for cell in map(str.strip, line)) for line in lines][1:]


def rows(text):
    return [tuple(int(cell) if cell.lstrip("-").isdigit() else cell for cell in row) for row in csv.reader(text.splitlines())][1:]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--assetq", default="assetq")
    options.add_argument("--before")
    options.add_argument("--datafusion")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--files", type=int, default=10_000)
    options.add_argument("--keep", type=pathlib.Path)
    given = options.parse_args()
    folder = given.keep or pathlib.Path(tempfile.mkdtemp())
    database = folder / "full" / "assets.bin"
    if not database.exists():
        run(given.assetq, "sample", folder / "full", "--size", "full", "--seed", 1)
    try:
        import duckdb
        session = duckdb.connect()
        for table in TABLES:
            parquet = folder / f"{table}.parquet"
            if not parquet.exists():
                run(given.assetq, "export", database, "-t", table, "--to", parquet)
            session.execute(f"CREATE VIEW {table} AS SELECT * FROM '{parquet}'")
    except ImportError:
        session = None
        print("skipped: DuckDB is not installed", file=sys.stderr)
    many = folder / "many"
    if not many.exists():
        run(given.assetq, "sample", folder / "small", "--seed", 1)
        many.mkdir()
        for number in range(given.files):
            shutil.copy(folder / "small" / "ship.geometry", many / f"{number:05}.geometry")
    shell = Shell(given.datafusion, database) if given.datafusion else None
    fusions = ["DataFusion", "its process"] if shell else []
    rivals = {"assetq": given.assetq} | ({"before": given.before} if given.before else {})
    print(f"{'question':40} {'rival':11} {'seconds':>8} {'MB':>6} {'of DuckDB':>10}")
    for what, query in QUESTIONS.items():
        expected = session and [tuple(row) for row in session.execute(query).fetchall()]
        seconds = {name: [] for name in [*rivals, *fusions, "DuckDB"]}
        memory = {}
        for _ in range(given.rounds):
            for name, binary in rivals.items():
                took, memory[name], out = timed([binary, "sql", query, str(database), "-f", "csv"])
                seconds[name].append(took)
                assert expected is None or rows(out) == [tuple(int(c) if isinstance(c, int) else c for c in row) for row in expected], what
            if shell:
                took, out = shell.ask(query)
                seconds["DataFusion"].append(took)
                assert expected is None or read_table(out) == expected, what
                took, memory["its process"], out = timed([given.datafusion, str(database), "-c", query])
                seconds["its process"].append(took)
                assert expected is None or read_table(out) == expected, what
            if session:
                start = time.perf_counter()
                session.execute(query).fetchall()
                seconds["DuckDB"].append(time.perf_counter() - start)
        for name, all_seconds in seconds.items():
            if all_seconds:
                ratio = statistics.median(a / b for a, b in zip(all_seconds, seconds["DuckDB"])) if session else 0
                print(f"{what:40} {name:11} {statistics.median(all_seconds):8.4f} {memory.get(name, 0):6.0f} {ratio:10.2f}")
    what = f"group by file, {len(list(many.iterdir()))} files"
    for name, binary in {"assetq": given.assetq}.items():
        took = [timed([binary, "sql", MANY, str(many / "*.geometry"), "-f", "csv"]) for _ in range(min(given.rounds, 3))]
        print(f"{what:40} {name:11} {statistics.median(t[0] for t in took):8.4f} {max(t[1] for t in took):6.0f}")
    if not given.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
