#!/usr/bin/env python3
"""Builds nodes that the plugin refuses, and reads the messages.

usage: refused.py TENON

The command must end with status 3 and print the words of the case. The exit status is 1 if it does not, 77 if onnx is not installed.
"""
import os
import subprocess
import sys
import tempfile

try:
    from onnx import TensorProto, helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

MS = "com.microsoft"
NCHWC = "com.microsoft.nchwc"
# (operator, domain, shapes of f32 inputs, attributes, words of the message)
CASES = [
    # Numbers would be wrong with the other size.
    ("Conv", NCHWC, [(1, 16, 4, 4), (16, 16, 1, 1)], {}, "add the attribute block_size"),
    ("Conv", NCHWC, [(1, 3, 4, 4), (16, 3, 1, 1)], {}, "add the attribute block_size"),
    ("Conv", NCHWC, [(1, 16, 4, 4), (16, 1, 1, 1)], {"group": 16}, "add the attribute block_size"),
    ("ReorderInput", NCHWC, [(1, 8, 4, 4)], {}, "add the attribute block_size"),
    ("Conv", NCHWC, [(1, 24, 4, 4), (16, 24, 1, 1)], {"block_size": 16}, "block_size = 16 is not supported"),
    ("Conv", NCHWC, [(1, 12, 4, 4), (16, 12, 1, 1)], {"block_size": 8}, "block_size = 8 is not supported"),
    ("Conv", NCHWC, [(1, 16, 4, 4), (16, 16, 1, 1)], {"block_size": 4}, "block_size = 4 is not supported"),
    ("Conv", NCHWC, [(1, 10, 4, 4), (10, 10, 1, 1)], {}, "not in blocks of 8 or 16"),
    ("Conv", NCHWC, [(1, 16, 4, 4), (16, 16, 1, 1)], {"group": 0}, "for 0 groups"),
    # Sums and products of such numbers do not fit 64 bits.
    ("Attention", MS, [(1, 2, 4), (4, 12)], {"num_heads": 2, "qkv_hidden_sizes": [2**62, 2**62, 2**62]}, "all have 12"),
    ("Attention", MS, [(1, 2, 4), (4, 12)], {"num_heads": 2, "qkv_hidden_sizes": [-4, 8, 8]}, "all have 12"),
    ("PackedAttention", MS, [(2, 4), (4, 12), (12,), (1, 2), (2,)], {"num_heads": 2, "qkv_hidden_sizes": [2**62, 2**62, 4]}, "all have 12"),
    ("PackedAttention", MS, [(2, 4), (4, 12), (12,), (1, 2), (2,)], {"num_heads": 2, "qkv_hidden_sizes": [2, 2, 2]}, "all have 12"),
    ("PackedAttention", MS, [(2, 4), (4, 13), (13,), (1, 2), (2,)], {"num_heads": 2}, "all have 13"),
    ("PackedMultiHeadAttention", MS, [(2, "w"), (2, "w"), (2, "w"), (6,), (1, 2), (2,)], {"num_heads": 1}, "to add a bias"),
    ("DecoderMaskedMultiHeadAttention", MS, [(1, 1, "w")], {"num_heads": 2}, "all have -1"),
    ("GroupQueryAttention", MS, [(1, 1, 8), None, None, None, None, (1,), (1,)], {"num_heads": 2, "kv_num_heads": 2**62},
     f"kv_num_heads = {2**62} is not supported"),
    ("MatMulNBits", MS, [(1, 16), (16, 1, 8), (16,)], {"K": 2**62, "N": 16, "block_size": 16}, f"K = {2**62} is not supported"),
    # A node for each of so many experts has no end.
    ("MoE", MS, [(1, 4), (1, "n"), (2**40, 4, 4), None, (2**40, 4, 4)], {}, f"{2**40} experts"),
    # The count of triples is not negative.
    ("QLinearConcat", MS, [(1,)], {}, "1 inputs are not"),
    ("QLinearAdd", MS, [(4,), (), (), (4,), (), (), (), ()], {}, "neither i8 nor u8"),
    # Halves of 2 and 1 columns would broadcast.
    ("BiasSplitGelu", MS, [(2, 3), (3,)], {}, "3 cannot be split into 2 equal parts"),
    ("SwiGLU", MS, [(2, 3)], {}, "3 cannot be split into 2 equal parts"),
    ("MoE", MS, [(2, 4), (2, 1), (1, 3, 4), None, (1, 4, 2)], {"activation_type": "swiglu", "swiglu_fusion": 2},
     "3 cannot be split into 2 equal parts"),
    # Axis -2 has neither more nor fewer parts.
    ("MultiHeadAttention", MS, [(1, 2, 2, 5, 4)], {"num_heads": 2}, "not [..., heads, 3, size]"),
    ("MultiHeadAttention", MS, [(1, 2, 8), (1, 2, 2, 3, 4)], {"num_heads": 2}, "not [..., heads, 2, size]"),
    ("PackedMultiHeadAttention", MS, [(2, 2, 2, 4), None, None, None, (1, 2), (2,)], {"num_heads": 2}, "not [..., heads, 3, size]"),
    # The last axis of complex numbers is not transformed.
    ("Rfft", MS, [(8,)], {"signal_ndim": 2}, "x must have such axes"),
    ("Irfft", MS, [(8, 2)], {"signal_ndim": 2}, "x must have such axes"),
]


def message_of(tenon, op, domain, shapes, attributes):
    """Returns the exit status and the messages."""
    names = [f"i{k}" for k in range(len(shapes))]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip(names, shapes) if shape is not None]
    node = helper.make_node(op, [name if shape is not None else "" for name, shape in zip(names, shapes)], ["y"], domain=domain,
                            name="refused", **attributes)
    graph = helper.make_graph([node], op, inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)], ir_version=9)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        done = subprocess.run([tenon, "build", path, "-o", path + ".plan", "--no-measuring", "--no-cache"], capture_output=True, text=True,
                              errors="replace", timeout=60, check=False)
    return done.returncode, done.stderr


failures = 0
for op, domain, shapes, attributes, words in CASES:
    status, text = message_of(sys.argv[1], op, domain, shapes, attributes)
    if status != 3 or words not in text or "'refused'" not in text:
        failures += 1
        print(f"{op} {shapes} {attributes}: status {status}, not '{words}': {text.strip()[-400:]}")
print(f"{len(CASES)} nodes, {failures} failures")
sys.exit(failures > 0)
