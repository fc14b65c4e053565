"""Measures both networks with ONNX Runtime: the figures that README.md gives.

Fails where the digits' accuracy is under 97 %, the mask's overlap under 0.9, or the Caffe network
differs from the ONNX network. The last is skipped where OpenCV (before version 5) is not installed.
"""

import os

import numpy as np

import caffe_files
import onnx_files
from pictures import read_pgm

FOLDER = os.path.dirname(os.path.abspath(__file__))
TRAINING_COLUMNS, TEST_COLUMNS = slice(0, 240), slice(256, 384)
CAFFE_TOLERANCE = 1e-5


def path_of(*parts):
    return os.path.join(FOLDER, *parts)


def measure_digits():
    images = np.load(path_of("digits", "test_images.npy")).astype(np.float32) / np.float32(255)
    labels = np.load(path_of("digits", "test_labels.npy"))
    probabilities = onnx_files.run(path_of("digits", "model.onnx"), images)
    wrong = np.flatnonzero(probabilities.argmax(1) != labels)
    accuracy = 1 - len(wrong) / len(labels)
    print(f"digits: {len(labels) - len(wrong)} of {len(labels)} right, {accuracy:.2%}")
    for index in wrong:
        taken_for = probabilities[index].argmax()
        share = probabilities[index, taken_for]
        print(f"  test picture {index}: a {labels[index]} taken for a {taken_for} ({share:.0%})")
    assert accuracy >= 0.97
    compare_caffe(images, probabilities)


def compare_caffe(images, expected):
    weights = caffe_files.load_weights(path_of("digits", "model.caffemodel"))
    for name, blobs in weights.items():
        print(f"  model.caffemodel {name}: {', '.join(str(blob.shape) for blob in blobs)}")
    try:
        from cv2.dnn import readNetFromCaffe
    except ImportError:
        print("  Caffe against ONNX: skipped, no OpenCV that reads Caffe")
        return
    network = readNetFromCaffe(
        path_of("digits", "model.prototxt"), path_of("digits", "model.caffemodel")
    )
    largest = 0.0
    for image, row in zip(images, expected):
        network.setInput(image[None])
        largest = max(largest, float(np.abs(network.forward()[0] - row).max()))
    print(f"  Caffe (OpenCV) against ONNX: largest difference {largest:.1e}")
    assert largest <= CAFFE_TOLERANCE


def overlap(mask, truth):
    """Intersection over union."""
    return (mask & truth).sum() / (mask | truth).sum()


def measure_coins():
    picture = read_pgm(path_of("coins", "coins.pgm"))
    truth = read_pgm(path_of("coins", "labels.pgm")) > 0
    image = picture.astype(np.float32)[None, None] / np.float32(255)
    mask = onnx_files.run(path_of("coins", "model.onnx"), image)[0, 0] > 0.5
    for name, columns in (("trained on", TRAINING_COLUMNS), ("not trained on", TEST_COLUMNS)):
        score = overlap(mask[:, columns], truth[:, columns])
        wrong_count = (mask[:, columns] != truth[:, columns]).sum()
        print(f"coins: overlap {score:.4f} where {name}, {wrong_count} pixels wrong")
    assert overlap(mask[:, TEST_COLUMNS], truth[:, TEST_COLUMNS]) >= 0.9


if __name__ == "__main__":
    measure_digits()
    measure_coins()
