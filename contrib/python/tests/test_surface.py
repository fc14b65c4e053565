"""The package has all of tenon.h: its functions, options, flags; and its stubs name what it has."""

import ast
import inspect
import re
import subprocess
import unittest
from pathlib import Path

import tenon_engine as tenon
from support import ROOT
from tenon_engine import _core

# Functions that Python needs no way to, with the reason.
LEFT_OUT = {
    "tenon_registry_retain": "each object of Python is one owner, and Python counts its references",
    "tenon_engine_retain": "the same",
}
# Members of the builder's table likewise.
LEFT_OUT_OF_BUILDER = {
    "output": "tenon_network_add_output is the same",
    "sink": "messages go to the registry's logger",
    "divert": "for plugins that try and fail",
}


def header(name):
    return (ROOT / "sdk/include/tenon" / name).read_text(encoding="utf-8")


class Surface(unittest.TestCase):
    def test_every_function_of_the_header_is_called(self):
        declared = set(re.findall(r"^TENON_API [^;(]*?\b(tenon_\w+)\(", header("tenon.h"), re.M))
        self.assertGreater(len(declared), 90)
        symbols = subprocess.run(
            ["nm", "-D", "--undefined-only", _core.__file__],
            check=True, capture_output=True, text=True,
        ).stdout
        called = set(re.findall(r"\b(tenon_\w+)", symbols))
        self.assertEqual(declared - called, set(LEFT_OUT))
        self.assertEqual(called - declared, set())

    def test_every_function_of_the_builder_is_called(self):
        body = re.search(r"struct tenon_builder_table_t \{(.*?)\n\};", header("plugin.h"), re.S)[1]
        members = set(re.findall(r"\(\*(\w+)\)\(", body))
        core = Path(__file__).parents[1] / "core"
        text = "".join(path.read_text(encoding="utf-8") for path in core.glob("*.c"))
        called = set(re.findall(r"(?:table|get_table\(\))->\s*(\w+)\(", text))
        self.assertEqual(members - called, set(LEFT_OUT_OF_BUILDER))

    def test_every_option_of_a_build_is_read(self):
        body = re.search(
            r"typedef struct tenon_build_options_t \{(.*?)\} tenon_build_options_t;",
            header("tenon.h"), re.S)[1]
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        members = set(re.findall(r"(\w+);", body)) - {"size", "reserved", "progress_user"}
        self.assertGreater(len(members), 20)
        text = (Path(__file__).parents[1] / "core/build.c").read_text(encoding="utf-8")
        for member in members:
            self.assertRegex(text, rf'OPTION\({member},|"{member}"')

    def test_flags_have_the_header_s_values(self):
        for prefix, flags in (("TENON_PERMIT_", tenon.Permit), ("TENON_STEP_IS_", tenon.StepFlag)):
            values = dict(re.findall(prefix + r"(\w+) = 1u << (\d)", header("tenon.h")))
            self.assertEqual({name: 1 << int(bit) for name, bit in values.items()},
                             {flag.name: flag.value for flag in flags})
        body = re.search(r"typedef int32_t tenon_status_t;\nenum \{(.*?)\};", header("plugin.h"), re.S)[1]
        statuses = re.findall(r"TENON_(?:ERROR_)?(\w+) = (\d+)", body)
        self.assertEqual({name: int(value) for name, value in statuses},
                         {status.name: status.value for status in tenon.Status})

    def test_records_have_the_header_s_members(self):
        for record, struct in (
            (tenon.StepInfo, "tenon_step_info_t"), (tenon.BlockInfo, "tenon_block_info_t"),
            (tenon.EngineInfo, "tenon_engine_info_t"), (tenon.RunTimes, "tenon_run_times_t"),
            (tenon.StepWork, "tenon_step_work_t"), (tenon.NodeType, "tenon_node_type_t"),
            (tenon.PluginInfo, "tenon_plugin_info_t"), (tenon.CallInfo, "tenon_call_info_t"),
        ):
            body = re.search(rf"typedef struct {struct} \{{(.*?)\}} {struct};", header("tenon.h"),
                             re.S)[1]
            body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
            members = set(re.findall(r"(\w+);", body)) - {"size", "reserved"}
            self.assertGreater(len(members), 1)
            self.assertEqual(members - set(record._fields), set())

    def test_the_stubs_name_what_the_module_has(self):
        stub = Path(tenon.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
        named = {}
        for node in ast.parse(stub).body:
            if isinstance(node, ast.ClassDef):
                named[node.name] = {
                    item.name for item in node.body if isinstance(item, ast.FunctionDef)
                }
            elif isinstance(node, ast.FunctionDef):
                named[node.name] = set()
        for name, value in vars(_core).items():
            if name.startswith("_"):
                continue
            self.assertIn(name, named)
            if inspect.isclass(value):
                public = {item for item in vars(value) if not item.startswith("_")}
                self.assertEqual(public - named[name], set(), name)
        self.assertEqual({name for name in named if not hasattr(_core, name)}, set())

    def test_help_has_the_signatures_of_the_stubs(self):
        stub = Path(tenon.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
        functions = [(_core, node) for node in ast.parse(stub).body]
        for owner, node in list(functions):
            if isinstance(node, ast.ClassDef):
                functions += [(getattr(_core, node.name), item) for item in node.body]
        checked = 0
        for owner, node in functions:
            if not isinstance(node, ast.FunctionDef) or node.decorator_list:
                continue
            if node.name.startswith("__") and node.name not in ("__array__", "__dlpack__"):
                continue
            function = getattr(owner, node.name)
            wanted = [item.arg for item in node.args.args + node.args.kwonlyargs]
            found = list(inspect.signature(function).parameters)
            self.assertEqual(found, wanted, node.name)
            self.assertRegex(inspect.getdoc(function), r"\w.*[.]$", node.name)
            checked += 1
        self.assertGreater(checked, 80)

    def test_everything_has_a_docstring(self):
        """Of its own: inspect.getdoc finds that of a base class or a type."""
        for name in tenon.__all__:
            value = getattr(tenon, name)
            if not inspect.isclass(value) and not inspect.isroutine(value):
                continue
            self.assertRegex(value.__doc__ or "", r"\w.*[.]", name)
            if inspect.isclass(value) and value.__module__.startswith("tenon_engine"):
                for member, function in vars(value).items():
                    if not member.startswith("_") and callable(function):
                        self.assertTrue(function.__doc__, f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()
