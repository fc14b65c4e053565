"""A network with rms_norm, an input and the expected output: network.py FOLDER"""

import random

from files import node, output_folder, write_array, write_network

folder = output_folder()
random.seed(1)
shape = [4, 150, 100]
rows, width, epsilon = 600, 100, 0.001
x = [random.uniform(-2, 2) for _ in range(rows * width)]
write_network(
    f"{folder}/network.onnx",
    ["acme"],
    [node("acme", "rms_norm", ["x"], ["y"], epsilon=epsilon)],
    [("x", shape)],
    [("y", shape)],
)

y = []
for row in range(rows):
    values = x[row * width : (row + 1) * width]
    root = (sum(value * value for value in values) / width + epsilon) ** 0.5
    y += [value / root for value in values]
write_array(f"{folder}/input_0.npy", shape, x)
write_array(f"{folder}/output_0.npy", shape, y)
