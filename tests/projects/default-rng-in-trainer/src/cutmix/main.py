import tensorflow as tf

from cutmix.trainer import Trainer


def main():
    (x, y), _ = tf.keras.datasets.cifar10.load_data()
    Trainer().run(x / 255.0, tf.keras.utils.to_categorical(y, 10), epochs=5)


if __name__ == "__main__":
    main()
