"""Answers on a local cluster of Spark, as JSON: two executors of one core, which are processes of their own."""

import json
import os
import sys

import pyspark

# Executors start from a whole Spark, with the scripts of the package.
os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql.functions import col, count  # noqa: E402

from assetq.spark import AssetqDataSource  # noqa: E402

folder, assets, damaged = sys.argv[1:]
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    # A source that takes conditions would see them.
    .config("spark.sql.python.filterPushdown.enabled", "true")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
spark.dataSource.register(AssetqDataSource)


def load(path: "str | list[str]", **options: str) -> DataFrame:
    return spark.read.format("assetq").options(**options).load(path)


def error(path: str, **options: str) -> str:
    try:
        return f"{load(path, **options).count()} rows"
    except Exception as raised:
        return str(raised)


vertices = load(f"file://{folder}/**/*.geometry", table="vertices", partitionBytes="2000", columns="file, buffer, index, x")
some = vertices.where(col("x") > 0.5)
counted = some.groupBy("file").agg(count("index").alias("vertices")).orderBy("file")
print(f"{vertices.rdd.getNumPartitions()} partitions", file=sys.stderr)
print(counted._jdf.queryExecution().toString(), file=sys.stderr)
paths = load([f"{folder}/c/*.geometry", f"{folder}/a/bow.geometry"], table="vertices")
first_id = load(assets, table="paths").first()["id"]
answers = {
    "counted": [list(row) for row in counted.collect()],
    "all": vertices.count(),
    "union": some.union(vertices.where(~(col("x") > 0.5))).count(),
    "self_join": some.join(vertices, ["file", "buffer", "index"]).count(),
    "paths": [row["file"] for row in paths.select("file").distinct().orderBy("file", ascending=False).collect()],
    "by_id": load(assets, table="paths", where=f"id = {first_id.lower()}").count(),
    "damaged": error(damaged, table="paths"),
    "pushdown": error(assets, pushdown="true"),
    "partitionBytes": error(assets, partitionBytes="64m"),
    "skipDamaged": error(assets, skipDamaged="yes"),
}
print(json.dumps(answers))
spark.stop()
