"""A network with the pattern, an input and the expected output: network.py FOLDER"""

import math
import random

from files import node, output_folder, write_array, write_network

folder = output_folder()
random.seed(1)
rows, width = 6, 50
shape = [rows, width]
x = [random.uniform(-3, 3) for _ in range(rows * width)]
write_network(
    f"{folder}/network.onnx",
    [],
    [node("", "LogSoftmax", ["x"], ["logarithms"], axis=1), node("", "Exp", ["logarithms"], ["y"])],
    [("x", shape)],
    [("y", shape)],
)

y = []
for row in range(rows):
    powers = [math.exp(value) for value in x[row * width : (row + 1) * width]]
    y += [power / sum(powers) for power in powers]
write_array(f"{folder}/input_0.npy", shape, x)
write_array(f"{folder}/output_0.npy", shape, y)
