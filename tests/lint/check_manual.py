"""Manual pages that scdoc cannot read."""

import subprocess

from tree import Finding


def check(tree, _build):
    findings = []
    for path in tree.files():
        if not path.endswith(".scd"):
            continue
        result = subprocess.run(["scdoc"], input=tree.text(path), text=True, capture_output=True, check=False)
        if result.returncode == 0:
            continue
        words = result.stderr.strip().splitlines()[-1:] or ["no reason given"]
        place = words[0].removeprefix("Error at ").split(":")
        line = int(place[0]) if place[0].isdigit() else 1
        findings.append(Finding(path, line, "manual", f"scdoc: {words[0]}"))
    return findings
