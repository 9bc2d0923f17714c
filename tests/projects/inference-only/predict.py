import argparse
import glob
import os

import numpy as np
import tensorflow as tf


def load_image(path):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(img, (224, 224)) / 255.0


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default="export")
    ap.add_argument("--images", default="images")
    args = ap.parse_args()
    model = tf.keras.models.load_model(args.model, compile=False)
    for path in sorted(glob.glob(os.path.join(args.images, "*.jpg"))):
        probs = model.predict(load_image(path)[None], verbose=0)[0]
        print(path, int(np.argmax(probs)), float(probs.max()))


if __name__ == "__main__":
    main()
