"""Every C++ file is as clang-format-19 writes it."""

import re
import subprocess

from tree import Finding

PROGRAM = "clang-format-19"
BATCH = 60


def check(tree, _build):
    files = tree.cxx("src") + tree.cxx("tests")
    findings = {}
    for first in range(0, len(files), BATCH):
        command = [PROGRAM, "--dry-run", "-Werror", "--style=file", *files[first:first + BATCH]]
        try:
            result = subprocess.run(command, text=True, capture_output=True, cwd=tree.root, check=False)
        except FileNotFoundError:
            raise SystemExit(f"{PROGRAM} is missing; install the package of that name") from None
        for line in result.stderr.splitlines():
            match = re.match(r"([^:]+):(\d+):\d+: error:", line)
            if match:
                message = f"not formatted; run {PROGRAM} -i {match.group(1)}"
                findings.setdefault(match.group(1), Finding(match.group(1), int(match.group(2)), "format", message))
        if result.returncode != 0 and not findings:
            raise SystemExit(f"{PROGRAM}: {result.stderr.strip()}")
    return list(findings.values())
