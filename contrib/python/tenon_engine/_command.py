"""The command `tenon` of the wheel."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Becomes the command that is stored beside the package."""
    path = Path(__file__).with_name("bin") / "tenon"
    os.execv(path, ["tenon", *sys.argv[1:]])
