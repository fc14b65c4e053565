"""Writes the page of exports from what run.py found.

usage: table.py RESULTS.jsonl... > sdk/docs/exports.md

Of a case that was run more than once the last line counts."""
import json
import re
import sys

HEAD = """# Networks as they are exported

Networks with random weights, exported by the libraries' own means, run in ONNX Runtime without optimisation and
in Tenon. [tests/exports](../../tests/exports/README.md) makes this page again. The difference is the largest of any output's
element, in standard deviations of that output; a case works when it is below 1e-3 (or the elements are equal, where they are
integers). Below 1e-9 the outputs themselves nearly vanish with random weights: the network ran, and little was compared. Where
the export itself fails, or ONNX Runtime does not run what was exported, Tenon was not asked.

What maskrcnn differs by is rounding. Its logits have a standard deviation of 46 with random weights, so what its layers
round (6e-4 of that) becomes up to 0.003 of a probability, in boxes of which some are an eighth of a pixel wide; and a mask is 0
but for a few pixels, so its standard deviation, by which the difference is divided, is 0.015. torchvision in double precision
tells who is nearer: of its mask's 5,017,600 elements ONNX Runtime misses 167 by more than 1e-3 of them and 0.00062 at most,
Tenon 29 by 0.00025; ONNX Runtime with its optimisation differs from itself without in 33. PyTorch in single precision
misses itself in double by 0.02 to 0.08 standard deviations of the masks, for five pictures of seven, whose boxes and labels agree;
in the other two rounding orders the boxes.
"""


def main():
    cases = {}
    for path in sys.argv[1:]:
        with open(path) as file:
            for line in file:
                facts = json.loads(line)
                cases[facts["family"], facts["exporter"], facts["name"]] = facts
    print(HEAD)
    ran = [f for f in cases.values() if f["stage"] in ("works", "differs", "Tenon")]
    works = [f for f in ran if f["stage"] == "works"]
    print(f"Of {len(cases)} networks {len(ran)} were exported and run by ONNX Runtime; {len(works)} of those work in Tenon.\n")
    print("| library | network | exporter | opset | nodes | works | largest difference | reason |\n|---|---|---|---|---|---|---|---|")
    for facts in cases.values():
        stage = facts["stage"]
        works = {"works": "yes", "differs": "no", "Tenon": "no"}.get(stage, f"not asked: {stage}")
        difference = f"{facts['difference']:.1e}" if "difference" in facts else ""
        reason = re.sub(r"\S*/model.onnx: ", "", facts.get("reason", "")).replace("|", "\\|") if stage != "works" else ""
        print("|", " | ".join([facts["family"], facts["name"], facts["exporter"], str(facts.get("opset", "")),
                               str(facts.get("nodes", "")), works, difference, reason]), "|")


main()
