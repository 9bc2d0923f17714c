import numpy as np
import pandas as pd
import tensorflow as tf

from nlp.model import classifier
from nlp.vocab import build_vocab, encode

tf.keras.utils.set_random_seed(0)
tf.config.experimental.enable_op_determinism()

frame = pd.read_csv("imdb.csv")
vocab = build_vocab(frame["text"])
x = np.array(encode(frame["text"], vocab, 120))
model = classifier(len(vocab))
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, frame["label"].values, epochs=3, batch_size=64)
