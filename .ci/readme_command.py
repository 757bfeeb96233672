"""Prints the command that README marks with a name: `python readme_command.py README.md demo`."""

import re
import sys
from pathlib import Path

page, name = Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2]
found = re.search(rf"<!-- command: {name} -->\s*```\w+\n(.*?)```", page, re.DOTALL)
if found is None:
    sys.exit(f"README marks no command {name!r}.")
print(found[1].strip())
