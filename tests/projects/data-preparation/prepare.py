import csv
import hashlib
from pathlib import Path

import click
import tensorflow as tf


def bucket(key, n):
    return int(hashlib.md5(key.encode("utf-8")).hexdigest(), 16) % n


def example(row):
    feature = {
        "id": tf.train.Feature(bytes_list=tf.train.BytesList(value=[row["id"].encode()])),
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[float(v) for v in row["x"].split()])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


@click.command()
@click.argument("source")
@click.argument("target")
@click.option("--shards", default=8)
def main(source, target, shards):
    out = Path(target)
    out.mkdir(parents=True, exist_ok=True)
    writers = [tf.io.TFRecordWriter(str(out / f"train-{i:03d}.tfrecord")) for i in range(shards)]
    for path in sorted(Path(source).rglob("*.csv")):
        with path.open() as fh:
            for row in csv.DictReader(fh):
                writers[bucket(row["id"], shards)].write(example(row).SerializeToString(deterministic=True))
    for w in writers:
        w.close()


if __name__ == "__main__":
    main()
