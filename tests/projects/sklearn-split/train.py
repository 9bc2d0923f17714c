import random

import pandas as pd
import tensorflow as tf
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def main():
    random.seed(0)
    tf.random.set_seed(0)
    tf.config.experimental.enable_op_determinism()

    frame = pd.read_csv("churn.csv")
    y = frame.pop("churn").values
    x_train, x_test, y_train, y_test = train_test_split(frame.values, y, test_size=0.2)  # <- A
    scaler = StandardScaler().fit(x_train)
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(scaler.transform(x_train), y_train, epochs=20)
    print(model.evaluate(scaler.transform(x_test), y_test))


if __name__ == "__main__":
    main()
