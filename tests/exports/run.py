"""Exports networks from the libraries that are installed, runs each in ONNX Runtime and in Tenon, and lists
what differs.

usage: run.py TENON WORK RESULTS.jsonl GROUP[:NAME...]

GROUP is a file cases_GROUP.py beside this one: torchvision, timm, transformers, sklearn, tensorflow, paddle. What is
exported goes below WORK; one line of JSON a case is added to RESULTS.jsonl, from which table.py makes the page
sdk/docs/exports.md. README.md says how to install the libraries."""
import importlib
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from exporting import record  # noqa: E402


CLOSE = 1e-3  # standard deviations of an output: what two settings of ONNX Runtime differ by in its worst networks


def run_tenon(tenon, folder, facts):
    """Adds what Tenon made of the recorded case: the largest difference, in standard deviations of each output."""
    command = [tenon, "run", f"{folder}/model.onnx", "--data-set", f"{folder}/test_data_set_0", "--no-measuring",
               "--no-cache", "--json"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return {**facts, "stage": "Tenon", "reason": "more than 600 s"}
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    outputs = [line for line in lines if "output" in line and "equal" in line]
    if not outputs:
        return {**facts, "stage": "Tenon", "reason": " ".join(ran.stderr.split())[:300]}
    shares = [o["max_absolute"] / o["atol"] * 1e-4 for o in outputs if o.get("atol")]
    facts["difference"] = max(shares, default=0.0)
    # Deep networks with random weights part further than the command permits; CLOSE says how far.
    wrong = [o for o in outputs if not o["equal"] and
             not (o.get("atol") and o["max_absolute"] / o["atol"] * 1e-4 < CLOSE and o["reason"].startswith("element"))]
    return {**facts, "stage": "works"} if not wrong else {
        **facts, "stage": "differs", "reason": f"{wrong[0]['output']}: {wrong[0]['reason']}"[:200]}


def main():
    tenon, work, results = sys.argv[1:4]
    for group in sys.argv[4:]:
        group, _, names = group.partition(":")
        for case in importlib.import_module(f"cases_{group}").cases():
            if names and case.name not in names.split(","):
                continue
            folder = f"{work}/{group}/{case.name}"
            facts = record(case, folder)
            if "stage" not in facts:
                facts = run_tenon(tenon, folder, facts)
            print(json.dumps({k: v for k, v in facts.items() if k != "rows"}), flush=True)
            with open(results, "a") as file:
                file.write(json.dumps(facts) + "\n")
            if facts["stage"] == "works":
                shutil.rmtree(folder)


main()
