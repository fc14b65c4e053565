"""Files with one error each are refused, with the file, the line, the value and a remedy; the same files without the error
are not. refused.py FOLDER COMMAND..., where FOLDER is that of networks.py"""

import os
import re
import struct
import subprocess
import sys

folder, command = sys.argv[1], sys.argv[2:]
FAILURE = 3  # exit status
NET = "[net]\nwidth=8\nheight=8\nchannels=3\n"  # lines 1 to 4
TINY = open(f"{folder}/v3_tiny/network.cfg", encoding="utf-8").read()
WEIGHTS = open(f"{folder}/v3_tiny/network.weights", "rb").read()
HEAD = 20  # bytes of a head with a 64-bit `seen`


def floats(count, version=(0, 2)):
    seen = "<q" if version >= (0, 2) else "<i"
    return struct.pack("<iii", *version, 0) + struct.pack(seen, 0) + bytes(4 * count)


def conv(**options):
    return NET + "[convolutional]\n" + "".join(f"{key}={value}\n" for key, value in options.items())


# name: text, weights, message; the convolution of NET with 4 filters of 1 x 1 has 4 * 3 + 4 weights.
CASES = {
    # The text as a whole.
    "first": ("[convolutional]\nfilters=1\n", None, r"the first section is not \[net\]: give a \.cfg"),
    "nothing": ("\n", None, r"the first section is not \[net\]"),
    "layers": (NET, None, "the network has no layers"),
    "option": (NET + "[maxpool]\nsize\n", None, "line 6: 'size' is no option: write key=value"),
    "section": (NET + "[maxpool\nsize=2\n", None, r"line 5: '\[maxpool' is no section: write \[type\]"),
    "after": (NET + "[maxpool] size=2\n", None, r"line 5: '\[maxpool\] size=2' is no section"),
    "unknown": (NET + "[crnn]\nbatch_normalize=1\n", None, "crnn"),
    # Numbers.
    "negative": ("[net]\nwidth=-8\nheight=8\n[maxpool]\n", None, r"line 2: width=-8 in \[net\]: write a number from 1 to"),
    "no_width": ("[net]\nheight=8\n[maxpool]\n", None, r"line 1: width=0 in \[net\]: write a number from 1 to"),
    "word": (NET + "[maxpool]\n\nsize=two\n", None, "line 7: size=two is no whole number: write decimal digits"),
    "exponent": (conv(filters="1e5"), floats(16), "line 6: filters=1e5 is no whole number"),
    "hexadecimal": (conv(filters="0x10"), floats(16), "line 6: filters=0x10 is no whole number"),
    "fraction": (conv(filters=4, size=1.5), floats(16), "line 7: size=1.5 is no whole number"),
    "two_numbers": (conv(filters="4 4"), floats(16), "line 6: filters=4 4 is no whole number"),
    "no_number": (conv(filters=""), floats(16), "line 6: filters= is no whole number"),
    "overflow": (conv(filters="9223372036854775808"), floats(16), "line 6: filters=9223372036854775808 is no whole number"),
    "large": (conv(filters=1048577), floats(16), "line 6: filters=1048577 .*from 1 to 1048576"),
    "no_filters": (conv(filters=0), floats(16), "line 6: filters=0 .*from 1 to"),
    "stride_0": (conv(filters=4, stride=0), floats(16), "line 7: stride=0: write a number from 1 to"),
    "stride_minus": (conv(filters=4, stride=-1), floats(16), "line 7: stride=-1: write a number from 1 to"),
    "dilation_0": (conv(filters=4, dilation=0), floats(16), "line 7: dilation=0: write a number from 1 to"),
    "padding": (conv(filters=4, padding=-1), floats(16), "line 7: padding=-1: write a number from 0 to"),
    "pool_0": (NET + "[maxpool]\nstride=0\n", None, "line 6: stride=0: write a number from 1 to"),
    "upsample_0": (NET + "[upsample]\nstride=0\n", None, "line 6: stride=0: write a number from 1 to"),
    "scale": (NET + "[upsample]\nscale=0x1p2\n", None, "line 6: scale=0x1p2 is no number: write a decimal number"),
    "infinite": (NET + "[upsample]\nscale=1e999\n", None, "line 6: scale=1e999 is no number"),
    "word_inf": (NET + "[upsample]\nscale=inf\n", None, "line 6: scale=inf is no number"),
    "nan": (NET + "[upsample]\nscale=nan\n", None, "line 6: scale=nan is no number"),
    "scale_0": (NET + "[upsample]\nscale=0\n", None, "line 6: scale=0: write a number above 0"),
    "many_weights": (conv(filters=1048576, size=1048576), floats(16), r"line 5: \[convolutional\] (needs|has too many)"),
    # Layers and channels.
    "layer": (NET + "[route]\nlayers=-2\n", None, r"line 6: \[route\] names layer -2: name one before it"),
    "ahead": (NET + "[route]\nlayers=5\n", None, r"line 6: \[route\] names layer 5"),
    "itself": (NET + "[route]\nlayers=0\n", None, r"line 6: \[route\] names layer 0"),
    "no_layers": (NET + "[route]\n", None, r"line 5: \[route\] needs the option layers"),
    "layer_exponent": (NET + "[maxpool]\n[route]\nlayers=-1e0\n", None, "line 7: layers=-1e0 is no list of whole numbers"),
    "layer_fraction": (NET + "[maxpool]\n[route]\nlayers=-1.5\n", None, "line 7: layers=-1.5 is no list of whole numbers"),
    "layer_comma": (NET + "[maxpool]\n[route]\nlayers=-1,\n", None, "line 7: layers=-1, is no list of whole numbers"),
    "groups": (conv(filters=4, groups=2), floats(16), "line 5: .convolutional. has 3 channels and 4 filters in 2 groups: use groups"),
    "groups_0": (conv(filters=4, groups=0), floats(16), "line 7: groups=0 .*from 1 to"),
    "route_groups": (NET + "[maxpool]\n[route]\nlayers=-1\ngroups=2\n", None, "line 8: 3 channels have no group 0 of 2"),
    "route_group": (NET + "[maxpool]\n[route]\nlayers=-1\ngroups=3\ngroup_id=3\n", None, "3 channels have no group 3 of 3"),
    "unlike": (NET + "[maxpool]\nstride=2\n[maxpool]\nstride=2\n[route]\nlayers=-1,-2\n", None,
               "line 10: the layers have unlike extents, 3 x 2 x 2 and 3 x 4 x 4"),
    "shortcut": (NET + "[maxpool]\nstride=2\n[maxpool]\nstride=2\n[shortcut]\nfrom=-2\n", None,
                 "line 10: the layers have unlike extents, 3 x 2 x 2 and 3 x 4 x 4"),
    "blocks": (NET + "[reorg]\nstride=3\n", None, "line 6: an input of 3 x 8 x 8 has no blocks of 3 x 3"),
    "boxes": (NET + "[maxpool]\nsize=1\n[yolo]\nnum=3\nmask=0,1,2\nclasses=80\n", None,
              "line 10: its input has 3 channels, but 3 boxes of 80 classes need 255"),
    "mask": (NET + "[maxpool]\nsize=1\n[yolo]\nnum=3\nmask=0,1,3\n", None, "line 9: mask has 3, and num is 3"),
    "mask_minus": (NET + "[maxpool]\nsize=1\n[yolo]\nnum=3\nmask=-1\n", None, "line 9: mask has -1, and num is 3"),
    "activation": (NET + "[maxpool]\nsize=1\n[shortcut]\nfrom=-1\nactivation=hardtan\n", None, "line 9: the activation 'hardtan'"),
    "unsupported": (conv(filters=4, xnor=1), floats(16), "line 7: the option xnor=1 is not supported"),
    "weights_type": (NET + "[maxpool]\nsize=1\n[maxpool]\nsize=1\n[shortcut]\nfrom=-2\nweights_type=per_channel\n", None,
                     "line 11: the option weights_type=per_channel is not supported"),
    # The stride of the tiny network is 4.
    "width": (TINY.replace("width = 32", "width = 34"), WEIGHTS, "line 5: width=34 is no multiple of 4, .* use 36"),
    "height": (TINY.replace("height = 32", "height = 1"), WEIGHTS, "line 6: height=1 is no multiple of 4, .* use 4"),
    # Weights.
    "no_weights": (TINY, None, r"line 9: \[convolutional\] needs weights, .* add --weights FILE"),
    "short": (TINY, WEIGHTS[:-4], r"line \d+: \[convolutional\] needs \d+ weights, and \d+ are left in .*short.weights: give"),
    "cut": (TINY, WEIGHTS[:-1], r"needs \d+ weights, and \d+ are left in .*cut.weights: give"),
    "long": (TINY, WEIGHTS + bytes(4), "long.weights: the last 4 bytes of the weights belong to no layer: give"),
    "byte": (TINY, WEIGHTS + bytes(1), "byte.weights: the last 1 bytes of the weights belong to no layer"),
    "none_needed": (NET + "[maxpool]\nsize=1\n", floats(1), "none_needed.weights: the last 4 bytes"),
    # A head of the wrong length for its version: `seen` has 8 bytes since version 0.2.
    "seen_64": (TINY, floats(0, (0, 2))[:4] + struct.pack("<i", 1) + WEIGHTS[8:], "seen_64.weights: the last 4 bytes"),
    "seen_32": (TINY, WEIGHTS[:16] + WEIGHTS[HEAD:], r"needs \d+ weights, and \d+ are left in .*seen_32.weights"),
    "head": (TINY, WEIGHTS[:18], "head.weights: the weights have no head: the file has 18 bytes, and the head of version 0.2 20"),
    "little": (TINY, bytes(3), "little.weights: the weights have no head: the file has 3 bytes"),
    "version": (TINY, b"\xff" * 4 + WEIGHTS[4:], "version.weights: the weights have the unknown version -1.2: give"),
    "version_1000": (TINY, struct.pack("<ii", 1000, 0) + WEIGHTS[8:], "unknown version 1000.0"),
    # A second file of another kind.
    "text": (TINY, TINY.encode(), r"text.weights is no \.weights file: give a \.cfg and its \.weights"),
    "empty": (TINY, b"", r"empty.weights is no \.weights file"),
    "picture": (TINY, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "picture.weights: the weights have the unknown version"),
}
GOOD = {
    "right": (TINY, WEIGHTS),
    "seen_32_old": (TINY, struct.pack("<iii", 0, 1, 0) + bytes(4) + WEIGHTS[HEAD:]),
    "version_1_0": (TINY, struct.pack("<ii", 1, 0) + WEIGHTS[8:]),
    "one": (conv(filters=4), floats(16)),
    "lines": (NET.replace("\n", "\r\n") + "[maxpool]\n# a comment\nsize = 2 ; another\nxnor=0\n", None),
    "no_detector": (NET.replace("8", "9") + "[maxpool]\nstride=2\n", None),
}
failures = 0


def complain(name, output, reason):
    global failures
    failures += 1
    print(f"{name}: {reason}\n{output}")


def run(name, text, *weights):
    path = f"{folder}/refused/{name}"
    with open(f"{path}.cfg", "w", encoding="utf-8", newline="") as file:
        file.write(text)
    files = [f"{path}.cfg"]
    for k, data in enumerate(weights):
        if data is not None:
            files += ["--weights", f"{path}{'_' * k}.weights"]
            with open(files[-1], "wb") as file:
                file.write(data)
    result = subprocess.run([*command[:2], *files, "--format", "darknet", *command[2:]], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, check=False)
    return result.returncode, result.stdout.decode(errors="replace")


def refuse(name, text, message, *weights):
    status, output = run(name, text, *weights)
    if status != FAILURE:
        complain(name, output, f"its exit status is {status}, not {FAILURE}")
    if not re.search(message, output) or f"{name}.cfg: " not in output:
        complain(name, output, f"it does not print the file and: {message}")


os.makedirs(f"{folder}/refused", exist_ok=True)
for name, (text, weights, message) in CASES.items():
    refuse(name, text, message, weights)
refuse("twice", TINY, "twice_.weights: .*twice.weights has the weights already: give one", WEIGHTS, WEIGHTS)
for name, (text, weights) in GOOD.items():
    status, output = run(name, text, weights)
    if status != 0:
        complain(name, output, f"its exit status is {status}, not 0")
print(f"{len(CASES) + 1} networks refused, {len(GOOD)} run, {failures} failures")
sys.exit(failures > 0)
