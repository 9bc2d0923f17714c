import numpy as np
import tensorflow as tf

from model import Bag, loss_fn

tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()

blob = np.load("ag_news.npz")
model = Bag(20000, 64, 4)
opt = tf.keras.optimizers.Adam()
n = len(blob["labels"])
for epoch in range(3):
    with tf.GradientTape() as tape:
        logits = model((blob["tokens"], blob["segments"], n))
        loss = loss_fn(blob["labels"], logits)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    print(epoch, float(loss))
