"""Networks with the nodes, an input and the expected output: network.py FOLDER"""

import random

from files import node, output_folder, write_array, write_network

folder = output_folder()
random.seed(1)
rows, width, bound = 4, 10, 0.75
shape = [rows, width]
x = [random.uniform(-2, 2) for _ in range(rows * width)]
scale = [random.uniform(0.5, 2) for _ in range(width)]
offset = [random.uniform(-1, 1) for _ in range(width)]
write_network(
    f"{folder}/network.onnx",
    ["acme"],
    [
        node("acme", "HardShrink", ["x"], ["shrunk"], **{"lambda": bound}),
        node("acme", "Affine", ["shrunk", "scale", "offset"], ["z"]),
        node("acme", "Affine", ["z", "scale"], ["y"]),
    ],
    [("x", shape)],
    [("y", shape)],
    [("scale", [width], scale), ("offset", [width], offset)],
)
write_network(
    f"{folder}/negative.onnx",
    ["acme"],
    [node("acme", "HardShrink", ["x"], ["y"], **{"lambda": -1.0})],
    [("x", shape)],
    [("y", shape)],
)

y = []
for k, value in enumerate(x):
    shrunk = value if abs(value) > bound else 0.0
    y.append((shrunk * scale[k % width] + offset[k % width]) * scale[k % width])
write_array(f"{folder}/input_0.npy", shape, x)
write_array(f"{folder}/output_0.npy", shape, y)
