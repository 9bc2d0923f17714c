from tensorflow.keras import initializers, layers, models


def mlp(width, depth):
    net = models.Sequential()
    net.add(layers.InputLayer((20,)))
    for i in range(depth):
        net.add(layers.Dense(width, activation="relu", kernel_initializer=initializers.GlorotUniform(seed=i)))
        net.add(layers.Dropout(0.2, seed=100 + i))
    net.add(layers.Dense(1, kernel_initializer=initializers.GlorotUniform(seed=999)))
    return net
