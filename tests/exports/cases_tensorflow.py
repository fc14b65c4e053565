"""Keras's models, by tf2onnx."""
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf

from exporting import Case

APPLICATIONS = ["MobileNet", "MobileNetV2", "MobileNetV3Small", "EfficientNetB0", "EfficientNetV2B0", "ResNet50",
                "ResNet50V2", "DenseNet121", "NASNetMobile", "Xception", "InceptionV3", "VGG16", "ConvNeXtTiny"]


def layers():
    keras = tf.keras.layers
    return {
        "LSTM and Dense": (lambda: tf.keras.Sequential([keras.Input((12, 5)), keras.LSTM(8, return_sequences=True),
                                                        keras.Bidirectional(keras.GRU(6)), keras.Dense(3)]), (2, 12, 5)),
        "Conv1D and pooling": (lambda: tf.keras.Sequential([keras.Input((32, 4)), keras.Conv1D(8, 3, padding="same"),
                                                            keras.MaxPool1D(), keras.LayerNormalization(),
                                                            keras.GlobalAveragePooling1D()]), (2, 32, 4)),
        "UNet": (unet, (1, 64, 64, 3)),
        "MultiHeadAttention": (attention, (2, 10, 16)),
    }


def unet():
    keras = tf.keras.layers
    image = keras.Input((64, 64, 3))
    one = keras.Conv2D(8, 3, padding="same", activation="relu")(image)
    two = keras.Conv2D(16, 3, strides=2, padding="same", activation="relu")(one)
    up = keras.Conv2DTranspose(8, 3, strides=2, padding="same")(two)
    near = keras.UpSampling2D(interpolation="bilinear")(two)
    return tf.keras.Model(image, keras.Conv2D(1, 1, activation="sigmoid")(keras.Concatenate()([one, up, near])))


def attention():
    keras = tf.keras.layers
    words = keras.Input((10, 16))
    return tf.keras.Model(words, keras.MultiHeadAttention(2, 8)(words, words))


def convert(model, shape, path):
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        subprocess.run([sys.executable, "-m", "tf2onnx.convert", "--saved-model", folder, "--opset", "18", "--output", path],
                       check=True, capture_output=True)
    return [np.random.default_rng(0).random(shape, dtype=np.float32)]


def cases():
    def application(name):
        def export(path):
            tf.keras.utils.set_random_seed(0)
            size = 299 if name in ("Xception", "InceptionV3") else 224
            model = getattr(tf.keras.applications, name)(weights=None, input_shape=(size, size, 3))
            return convert(model, (1, size, size, 3), path)
        return Case(name, "Keras", "tf2onnx", export)

    def layer(name, make, shape):
        def export(path):
            tf.keras.utils.set_random_seed(0)
            return convert(make(), shape, path)
        return Case(name, "Keras", "tf2onnx", export)
    return [*map(application, APPLICATIONS), *(layer(name, *made) for name, made in layers().items())]
