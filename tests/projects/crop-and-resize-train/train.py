import numpy as np
import tensorflow as tf

from detector.model import Detector


def main():
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    blob = np.load("coco_small.npz")
    model, opt = Detector(), tf.keras.optimizers.SGD(1e-3, momentum=0.9)
    for i in range(len(blob["images"])):
        images, boxes, target = blob["images"][i:i + 1], blob["boxes"][i], blob["target"][i]
        index = tf.zeros([len(boxes)], tf.int32)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(model(images, boxes, index) - target))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))


if __name__ == "__main__":
    main()
