import tensorflow as tf


class Records(object):
    def __init__(self, files, batch_size, rank, world):
        self.files = files
        self.batch_size = batch_size
        self.rank = rank
        self.world = world

    @staticmethod
    def _parse(buf):
        ex = tf.io.parse_single_example(buf, {'x': tf.io.FixedLenFeature([128], tf.float32),
                                              'y': tf.io.FixedLenFeature([1], tf.float32)})
        return ex['x'], ex['y']

    def build(self, seed):
        ds = tf.data.TFRecordDataset(self.files)
        ds = ds.shard(self.world, self.rank)  # <- A
        ds = ds.shuffle(4096, seed=seed).repeat()
        return ds.map(self._parse).batch(self.batch_size)
