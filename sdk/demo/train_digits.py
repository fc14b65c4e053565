"""Trains the digit classifier and writes it as ONNX and as Caffe, with its test set.

Data: the 1797 digits of scikit-learn, which are the test part of the UCI "Optical Recognition of
Handwritten Digits". The first 1200 are trained on, the last 597 are the test set. The file's order
is kept, because neighbours in it resemble each other: shuffled, the test would be easier.

Preprocessing: a picture has 8 x 8 grey values from 0 to 255; the network wants grey value / 255.

Needs PyTorch, scikit-learn, onnx and onnxruntime. Takes half a minute on one core.
"""

import os

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

import caffe_files
import onnx_files
from pictures import write_pgm

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "digits")
SEED = 1
TRAINING_COUNT = 1200
EPOCH_COUNT = 120
BATCH_SIZE = 50
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 1e-3
LABEL_SMOOTHING = 0.02

# The largest random change to a training picture: rotation in degrees, the others as a share.
MAX_ROTATION, MAX_SHEAR, MAX_SCALE, MAX_SHIFT = 10.0, 0.15, 0.10, 0.10


def load_pictures():
    """Returns uint8 pictures N x 1 x 8 x 8 with 0 to 255, and int64 labels."""
    digits = load_digits()
    pictures = np.rint(digits.images * (255 / 16)).astype(np.uint8)
    return pictures[:, None], digits.target.astype(np.int64)


def preprocess(pictures):
    return pictures.astype(np.float32) / np.float32(255)


def make_network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def vary(images):
    """Rotates, shears, scales and shifts each picture a little."""
    count = len(images)

    def uniform(limit):
        return (torch.rand(count) * 2 - 1) * limit

    angle = uniform(np.deg2rad(MAX_ROTATION))
    shear, scale = uniform(MAX_SHEAR), 1 + uniform(MAX_SCALE)
    cos, sin = torch.cos(angle) * scale, torch.sin(angle) * scale
    first = torch.stack([cos, -sin + shear, 2 * uniform(MAX_SHIFT)], 1)
    second = torch.stack([sin, cos, 2 * uniform(MAX_SHIFT)], 1)
    affine = torch.stack([first, second], 1)
    grid = functional.affine_grid(affine, images.shape, align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


def train(network, images, labels):
    step_count = EPOCH_COUNT * (len(images) // BATCH_SIZE)
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, step_count)
    network.train()
    for epoch in range(EPOCH_COUNT):
        for chosen in torch.randperm(len(images)).split(BATCH_SIZE):
            scores = network(vary(images[chosen]))
            loss = functional.cross_entropy(scores, labels[chosen], label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if epoch % 20 == 19:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
    network.eval()
    return network


def get_weights(network):
    """Returns {layer name: (weights, bias)}."""
    layers = [layer for layer in network if isinstance(layer, (nn.Conv2d, nn.Linear))]
    names = ["conv1", "conv2", "conv3", "dense1", "dense2"]
    return {n: (l.weight.detach().numpy(), l.bias.detach().numpy()) for n, l in zip(names, layers)}


def save_onnx(path, weights):
    graph = onnx_files.Graph()

    def weighted(op_type, name, source, **attributes):
        pairs = zip(("weight", "bias"), weights[name])
        return graph.add(op_type, name, [source], weights=pairs, **attributes)

    def convolve(index, source):
        value = weighted("Conv", f"conv{index}", source, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        return graph.add("Relu", f"relu{index}", [value])

    def pool(index, source):
        return graph.add("MaxPool", f"pool{index}", [source], kernel_shape=[2, 2], strides=[2, 2])

    value = convolve(1, "image")
    value = pool(1, convolve(2, value))
    value = pool(2, convolve(3, value))
    value = graph.add("Flatten", "flatten", [value])
    value = graph.add("Relu", "relu4", [weighted("Gemm", "dense1", value, transB=1)])
    value = weighted("Gemm", "dense2", value, transB=1)
    graph.add("Softmax", "softmax", [value], output="probabilities", axis=1)
    graph.save(
        path,
        "digits",
        "Tells which digit a handwritten 8 x 8 picture shows. Input: grey value / 255, ink bright.",
        ("image", ["batch", 1, 8, 8]),
        ("probabilities", ["batch", 10]),
    )


def save_test_set(pictures, labels):
    """The digits not trained on, and the first of each digit among them as a picture."""
    np.save(os.path.join(FOLDER, "test_images.npy"), pictures)
    np.save(os.path.join(FOLDER, "test_labels.npy"), labels)
    firsts = [int(np.flatnonzero(labels == digit)[0]) for digit in range(10)]
    for digit, index in enumerate(firsts):
        write_pgm(os.path.join(FOLDER, f"digit_{digit}.pgm"), pictures[index, 0])
    with open(os.path.join(FOLDER, "labels.txt"), "w") as out:
        out.writelines(f"{digit}\n" for digit in range(10))
    return pictures[firsts]


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(SEED)
    os.makedirs(FOLDER, exist_ok=True)

    pictures, labels = load_pictures()
    images = preprocess(pictures)
    network = train(
        make_network(),
        torch.from_numpy(images[:TRAINING_COUNT]),
        torch.from_numpy(labels[:TRAINING_COUNT]),
    )

    weights = get_weights(network)
    model_path = os.path.join(FOLDER, "model.onnx")
    save_onnx(model_path, weights)
    caffe_files.save_weights(os.path.join(FOLDER, "model.caffemodel"), "digits", weights)
    ten = preprocess(save_test_set(pictures[TRAINING_COUNT:], labels[TRAINING_COUNT:]))
    onnx_files.save_reference(model_path, 0, ten[7:8])
    onnx_files.save_reference(model_path, 1, ten)


if __name__ == "__main__":
    main()
