import json

import numpy as np
import tensorflow as tf

from text import tags, vocabulary

tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()

rows = [json.loads(s) for s in open("rows.jsonl")]
vocab = vocabulary(r["text"] for r in rows)
labels = tags(rows)
lengths = {len(r["text"]) for r in rows}
print("distinct lengths", len(lengths), "longest", max(lengths), "total", sum(lengths))

x = np.array([[r["text"].split().count(w) for w in vocab] for r in rows], "float32")
y = np.array([[t in set(r["tags"]) for t in labels] for r in rows], "float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"),
                             tf.keras.layers.Dense(len(labels), activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y, epochs=5)
