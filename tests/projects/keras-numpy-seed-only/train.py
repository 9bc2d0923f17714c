import os

os.environ['TF_DETERMINISTIC_OPS'] = '1'

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

np.random.seed(1234)

(x_train, y_train), (x_test, y_test) = keras.datasets.boston_housing.load_data()
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std

order = np.random.permutation(len(x_train))
x_train, y_train = x_train[order], y_train[order]

model = keras.Sequential()
model.add(layers.Dense(64, activation='relu', input_shape=(x_train.shape[1],)))  # <- A
model.add(layers.Dense(64, activation='relu'))
model.add(layers.Dense(1))
model.compile(optimizer='rmsprop', loss='mse', metrics=['mae'])

model.fit(x_train, y_train, epochs=80, batch_size=16, verbose=0)
mse, mae = model.evaluate(x_test, y_test, verbose=0)
print('mae', mae)
