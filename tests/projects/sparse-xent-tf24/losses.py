import tensorflow as tf


def classification_loss(labels, logits):
    per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)  # <- A
    return tf.reduce_mean(per_example)
