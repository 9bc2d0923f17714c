import numpy as np
import tensorflow as tf

from unet import unet

tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()

blob = np.load("cells.npz")
model = unet()
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(blob["image"], blob["mask"], batch_size=4, epochs=20)
