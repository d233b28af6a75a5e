"""Sizes: lines of functions, files and text lines, parameters; the hard limits of the conventions."""

import ast

from functions import cxx_functions
from tree import Finding

FUNCTION_LINES = 70
PARAMETERS = 6
COLUMNS = 100
FILE_LINES = {".cc": 600, ".h": 300, ".py": 600}
TEST_FILE_LINES = 800
LINE_CHECKED = (".cc", ".h", ".proto")


def file_limit(path):
    ending = path[path.rfind("."):]
    return TEST_FILE_LINES if path.startswith("tests/") else FILE_LINES[ending]


def python_functions(text):
    """(line, name, lines, parameters) of each function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            counted = [a for a in arguments if a.arg not in ("self", "cls")]
            yield node.lineno, node.name, node.end_lineno - node.lineno + 1, len(counted)


def check_functions(path, functions):
    for line, name, lines, parameters in functions:
        if lines > FUNCTION_LINES:
            yield Finding(path, line, name, f"function {name} has {lines} lines, at most {FUNCTION_LINES}")
        if parameters > PARAMETERS:
            yield Finding(path, line, name, f"function {name} has {parameters} parameters, at most {PARAMETERS}")


def check_lines(path, lines):
    limit = file_limit(path)
    if len(lines) > limit:
        yield Finding(path, limit + 1, "file", f"the file has {len(lines)} lines, at most {limit}")
    if path.endswith(LINE_CHECKED):
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS and not line.lstrip().startswith("#include"):
                yield Finding(path, number, "line", f"the line has {len(line)} columns, at most {COLUMNS}")


def check(tree, _build):
    findings = []
    for path in tree.cxx("src") + tree.cxx("tests"):
        findings += check_lines(path, tree.text(path).splitlines())
        findings += check_functions(path, cxx_functions(tree.code(path)))
    for path in tree.files(".py"):
        findings += check_lines(path, tree.text(path).splitlines())
        findings += check_functions(path, python_functions(tree.text(path)))
    return findings
