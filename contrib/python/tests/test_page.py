"""The blocks of the README run, one after the other, and print what the page says."""

import contextlib
import io
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from support import DIGITS, needs_numpy

PAGE = Path(__file__).parents[1] / "README.md"


@needs_numpy
class Page(unittest.TestCase):
    def test_blocks(self):
        text = PAGE.read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```\n(?:\nIt prints (.*?)\n\n)?", text, re.S)
        self.assertGreater(len(blocks), 10)
        self.assertTrue(any(expected for _, expected in blocks))
        before = os.getcwd()
        names: dict[str, object] = {"__name__": "page"}
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(DIGITS, folder, dirs_exist_ok=True)
            os.chdir(folder)
            try:
                for code, expected in blocks:
                    printed = io.StringIO()
                    with contextlib.redirect_stdout(printed):
                        exec(compile(code, "README.md", "exec"), names)
                    for words in re.findall(r"`([^`]+)`", expected):
                        self.assertIn(words, printed.getvalue(), code)
            finally:
                os.chdir(before)


if __name__ == "__main__":
    unittest.main()
