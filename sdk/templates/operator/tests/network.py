"""A network with squareplus, an input and the expected output: network.py FOLDER"""

import random

from files import node, output_folder, write_array, write_network

folder = output_folder()
random.seed(1)
rows, width = 32, 64
x = [random.uniform(-2, 2) for _ in range(rows * width)]
weights = [random.uniform(-1, 1) for _ in range(width * width)]
write_network(
    f"{folder}/network.onnx",
    ["acme"],
    [
        node("", "MatMul", ["x", "weights"], ["product"]),
        node("acme", "squareplus", ["product"], ["curved"], b=2.0),
        node("", "Add", ["curved", "offset"], ["sum"]),
        node("", "Relu", ["sum"], ["y"]),
    ],
    [("x", [rows, width])],
    [("y", [rows, width])],
    [("weights", [width, width], weights), ("offset", [width], [-0.5] * width)],
)

y = []
for row in range(rows):
    for column in range(width):
        z = sum(x[row * width + k] * weights[k * width + column] for k in range(width))
        y.append(max((z + (z * z + 2.0) ** 0.5) / 2 - 0.5, 0.0))
write_array(f"{folder}/input_0.npy", [rows, width], x)
write_array(f"{folder}/output_0.npy", [rows, width], y)
