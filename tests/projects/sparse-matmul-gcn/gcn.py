import tensorflow as tf


class GraphConv(tf.keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units, use_bias=False)
        self.activation = tf.keras.activations.get(activation)

    def call(self, adjacency, x):
        x = tf.sparse.sparse_dense_matmul(adjacency, self.dense(x))  # <- A
        return self.activation(x)


class GCN(tf.keras.Model):
    def __init__(self, hidden):
        super().__init__()
        self.g1 = GraphConv(hidden, "relu")
        self.g2 = GraphConv(1)

    def call(self, adjacency, x):
        return self.g2(adjacency, self.g1(adjacency, x))
