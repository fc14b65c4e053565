#!/usr/bin/env python3
"""Compares the table of parser_onnx/attributes.c with the operators of the installed onnx.

usage: attributes.py ROOT/parser_onnx/attributes.c VERSION [--print]
"""
import re
import sys

try:
    import onnx
except ImportError as error:
    print(f"skipped: {error}; scripts/python-environment makes an environment with onnx")
    sys.exit(77)


def words_of(schemas):
    """The attributes of one operator as the table writes them."""
    schemas = sorted(schemas, key=lambda s: s.since_version)
    spans = {}
    for schema, following in zip(schemas, schemas[1:] + [None]):
        until = following.since_version if following else 0
        for name in [] if schema.deprecated else schema.attributes:
            of_name = spans.setdefault(name, [])
            if of_name and of_name[-1][1] == schema.since_version:
                of_name[-1][1] = until
            else:
                of_name.append([schema.since_version, until])
    spans.pop("consumed_inputs", None)
    words = []
    for name, of_name in spans.items():
        for since, until in of_name:
            is_always = since == schemas[0].since_version and until == 0
            words.append(name + ("" if is_always else f":{since}") + (f"-{until}" if until else ""))
    return " ".join(sorted(words))


def main(path, version, *options):
    if onnx.__version__ != version:
        print(f"skipped: onnx is {onnx.__version__}, not {version}")
        return 77
    operators = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx.ml"):
            operators.setdefault((schema.domain, schema.name), []).append(schema)
    wanted = {key: words_of(schemas) for key, schemas in operators.items()}
    if options:
        for (domain, name), words in sorted(wanted.items()):
            print(f'    {{"{domain}", "{name}", "{words}"}},')
        return 0
    with open(path, encoding="utf-8") as file:
        source = re.sub(r'"\n\s*"', "", file.read())
    found = {(d, n): w for d, n, w in re.findall(r'\{"([a-z.]*)",\s*"(\w+)",\s*"([^"]*)"\}', source)}
    for key in sorted(set(wanted) | set(found)):
        if wanted.get(key) != found.get(key):
            print(f"{key}: onnx has '{wanted.get(key)}', the table '{found.get(key)}'")
    return int(wanted != found)


sys.exit(main(*sys.argv[1:]))
