"""Words that no product file may contain (words.txt), and plain text hygiene: line ends, blanks, file names."""

import pathlib
import re

from tree import Finding, rule_lines

HERE = pathlib.Path(__file__).parent
BINARY = (".png", ".gz", ".csv", ".ico")
SNAKE = re.compile(r"[a-z0-9][a-z0-9_]*\.(cc|h|py|proto)")


def load_words(path):
    rules = []
    for number, line in rule_lines(path):
        name, _, rest = line.partition(" | ")
        pattern, _, reason = rest.rpartition(" | ")
        if not pattern:
            raise SystemExit(f"{path}:{number}: want 'name | pattern | reason', have '{line}'")
        rules.append((name.strip(), re.compile(pattern.strip()), reason.strip()))
    return rules


def check_line(path, number, line, rules):
    for name, pattern, reason in rules:
        match = pattern.search(line)
        if match:
            yield Finding(path, number, name, f"'{match.group(0).strip()}': {reason}")
    if line.endswith((" ", "\t", "\r")) and not path.endswith(".md"):
        yield Finding(path, number, "blank", "blank or carriage return at the end of the line")


def check(tree, _build):
    rules = load_words(HERE / "words.txt")
    findings = []
    for path in tree.files():
        if path.endswith(BINARY):
            continue
        text = tree.text(path)
        name = pathlib.PurePosixPath(path).name
        if path.endswith((".cc", ".h", ".py", ".proto")) and not SNAKE.fullmatch(name):
            findings.append(Finding(path, 1, "name", "file names are snake_case"))
        if text and not text.endswith("\n"):
            findings.append(Finding(path, text.count("\n") + 1, "newline", "no newline at the end of the file"))
        for number, line in enumerate(text.split("\n"), 1):
            findings += check_line(path, number, line, rules)
    return findings
