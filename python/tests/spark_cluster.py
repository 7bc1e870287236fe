"""Counts rows by file on a local cluster of Spark: two executors of one core, which are processes of their own."""

import os
import sys

import pyspark

# Executors start from a whole Spark, with the scripts of the package.
os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql.functions import col, count  # noqa: E402

from assetq.spark import AssetqDataSource  # noqa: E402

folder = sys.argv[1]
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]")
    .config("spark.sql.python.filterPushdown.enabled", "true")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
spark.dataSource.register(AssetqDataSource)
options = {"table": "vertices", "pushdown": "true", "partitionBytes": "2000", "columns": "file, index, x"}
vertices = spark.read.format("assetq").options(**options).load(f"{folder}/**/*.geometry")
counted = vertices.where(col("x") > 0.5).groupBy("file").agg(count("index").alias("vertices")).orderBy("file")
print(f"{vertices.rdd.getNumPartitions()} partitions", file=sys.stderr)
print(counted._jdf.queryExecution().toString(), file=sys.stderr)
for row in counted.collect():
    print(row["file"], row["vertices"], sep="\t")
spark.stop()
