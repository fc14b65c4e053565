"""An input of network.acme, the expected outputs, and files with one error each: network.py FOLDER"""

import math

from files import output_folder, write_array

folder = output_folder()
shape = [2, 3]
x = [-1.0, -0.5, 0.0, 0.5, 1.0, 2.0]
write_array(f"{folder}/input_0.npy", shape, x)
write_array(f"{folder}/output_0.npy", shape, [max(value * 2.5 - 1, 0.0) for value in x])
write_array(f"{folder}/output_1.npy", shape, [math.tanh(value * 2.5 - 1) for value in x])

BROKEN = {
    "version": "acme 2\n",
    "value": "acme 1\ninput x 2\nrelu y z\n",
    "twice": "acme 1\ninput x 2\nrelu x x\n",
    "extent": "acme 1\ninput x -2\n",
    "fraction": "acme 1\ninput x 2.5\n",
    "exponent": "acme 1\ninput x 1e2\n",
    "hexadecimal": "acme 1\ninput x 2\nscale y x 0x2\n",
    "infinite": "acme 1\ninput x 2\nscale y x inf\n",
    "name": "acme 1\ninput x 2\noutput x x\n",
    "number": "acme 1\ninput x 2\nscale y x two\n",
    "type": "acme 1\ninput x 2\nswirl y x\n",
    "words": "acme 1\ninput x" + " 1" * 40 + "\n",
}
for name, text in BROKEN.items():
    with open(f"{folder}/{name}.acme", "w", encoding="utf-8") as file:
        file.write(text)
