#!/usr/bin/env python3
"""Records the cases beside this script: RegexFullMatch as RE2 itself answers.

    python3 cases.py        needs numpy, onnx, google-re2
"""
import pathlib
import shutil

import numpy
import re2
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "cases"
WORDS = ["", "a", "ab", "abc", "aab", "a\n", "\n", "a\nb", "\na", "\n\n", "A", "AB", "é", "É", "ß", "日本", "a b", "a\tb", "0", "١",
         "1984", "-", "_", "ſ", "K", "k", "\U0001f600", "a\U0001f600", "a\0b", "a@b.c", "()", "a" * 300]
PATTERNS = {
    "dot": ".", "dots": ".*", "dots_with_lines": "(?s).*", "alternatives": "a|ab|abc", "shorter_first": "(a|ab)(c|bcd)?",
    "lazy": "a+?b*?", "counted": "a{1,2}b{0,1}", "many": "a{300}", "any_case": "(?i)ab?|é|k|s", "classes": r"\d+|\w|[^a-z]",
    "posix": "[[:alpha:]]+|[[:^alpha:]]", "unicode": r"\p{L}+|\pN", "script": r"\p{Han}*", "not_script": r"\P{Latin}",
    "code_points": r"a\x{1F600}|\x61\x00b", "anchors": "^a$|^$", "anchors_of_lines": "(?m)a$\n^b|^\n^|^a$\n^", "ends": r"\Aa\z|\Aa\n\z",
    "borders": r"\ba\b \bb\b|a\b\tb", "named": "(?P<letter>a)b*", "quoted": r"\Q()\E|\(a", "nothing": "", "ungreedy": "(?U)a*b*",
    "bracket": "[]()a-]+", "space": r"a[\t ]b", "octal": r"\141|\07", "address": r"(\W|^)[\w.\-]{0,25}@(b|a)\.c(\W|$)",
}


def case(name, pattern, strings, shape=None):
    """A case in the layout of ONNX's backend tests."""
    node = helper.make_node("RegexFullMatch", ["text"], ["matches"], "matcher", pattern=pattern)
    values = numpy.array(strings, object).reshape(shape if shape is not None else (len(strings),))
    graph = helper.make_graph(
        [node], name, [helper.make_tensor_value_info("text", TensorProto.STRING, values.shape)],
        [helper.make_tensor_value_info("matches", TensorProto.BOOL, values.shape)])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    compiled = re2.compile(pattern)
    matches = numpy.array([compiled.fullmatch(text) is not None for text in strings], bool).reshape(values.shape)
    folder = FOLDER / "node" / f"test_{name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for file, value in (("input_0", values), ("output_0", matches)):
        (data / f"{file}.pb").write_bytes(numpy_helper.from_array(value, file).SerializeToString())
    return matches.sum()


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, pattern in PATTERNS.items():
        assert case(name, pattern, WORDS) > 0, f"{name} matches nothing"
    case("scalar", "a+", ["aaa"], ())
    case("none", "a+", [], (0, 3))
    case("table", "a+", ["a", "b", "aa", "", "ab", "aaaa"], (3, 1, 2))


main()
