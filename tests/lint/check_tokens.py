"""Words that a layer must not use, after comments and strings are blanked: tokens.txt."""

import fnmatch
import pathlib
import re

from check_layers import layer_of, load_layers
from tree import Finding, rule_lines

HERE = pathlib.Path(__file__).parent


def load_tokens(path):
    """(layer globs, pattern, name, reason) of each rule "name | layers | pattern | reason"."""
    rules = []
    for number, line in rule_lines(path):
        parts = [part.strip() for part in re.split(r"\s\|\s", line)]
        if len(parts) != 4:
            raise SystemExit(f"{path}:{number}: want 'name | layers | pattern | reason', have '{line}'")
        name, layers, pattern, reason = parts
        rules.append((layers.split(), re.compile(pattern), name, reason))
    return rules


def check(tree, _build):
    layers = load_layers(HERE / "layers.txt")
    rules = load_tokens(HERE / "tokens.txt")
    findings = []
    for path in tree.cxx("src"):
        layer = layer_of(str(pathlib.PurePosixPath(path).parent.relative_to("src")), layers) or ""
        mine = [rule for rule in rules if any(fnmatch.fnmatchcase(layer, glob) for glob in rule[0])]
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            for _, pattern, name, reason in mine:
                match = pattern.search(line)
                if match:
                    findings.append(Finding(path, number, name, f"'{match.group(0).strip()}' in layer {layer}: {reason}"))
    return findings
