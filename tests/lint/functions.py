"""Finds function bodies in C++ text whose comments and strings are blanked, by braces alone.

It knows no types: a brace opens a function where what stands before it has a parameter list and is no type, namespace,
initialiser or member initialiser. Lambdas and blocks inside a function belong to it.
"""

import bisect
import re

NOT_NAMES = {"noexcept", "decltype", "requires", "alignas", "sizeof", "__attribute__", "explicit", "if", "for", "while", "switch"}
NAME = re.compile(r"(operator\s*(?:\(\s*\)|[^\s\w(]+|\w+)|~?[A-Za-z_][\w:~]*)\s*\(")
TYPE = re.compile(r"(?:typedef\s+|static\s+|inline\s+|constexpr\s+|const\s+|friend\s+)*(?:class|struct|union|enum)\b")
BEFORE_BODY = {"const", "noexcept", "override", "final", "mutable", "try", "volatile"}


def blank_preprocessor(code):
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.MULTILINE)


def matching(code, opening):
    """Index of the brace that closes the one at `opening`, or the end."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, opening):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return match.start()
    return len(code) - 1


def without_templates(head):
    """The head without leading template<...> lists and attributes."""
    while True:
        match = re.match(r"\s*(?:\[\[[^\]]*\]\]|(?:template\s*(?=<)))", head)
        if not match:
            return head.strip()
        rest = head[match.end():]
        if rest.startswith("<"):
            depth, end = 0, 0
            for end, char in enumerate(rest):
                depth += {"<": 1, ">": -1}.get(char, 0)
                if depth == 0:
                    break
            rest = rest[end + 1:]
        head = rest


def kind_of(head):
    """What a brace after `head` opens: "scope" (look inside), "function", "member" or "value" (skip)."""
    plain = without_templates(head)
    if re.match(r"(inline\s+)?namespace\b|extern\b\s*$", plain) or (TYPE.match(plain) and not plain.endswith(")")):
        return "scope"
    if ")" not in plain or re.search(r"[=,(]\s*[\w:<>, ]*$", plain):
        return "value"
    last = re.search(r"(\w+|>)$", plain)
    if re.search(r"\)\s*(noexcept\s*)?:(?!:)", plain) and last and last.group(1) not in BEFORE_BODY:
        return "member"
    return "function"


def parameters_of(head, opening):
    """How many parameters stand in the list that opens at head[opening]."""
    depth, count, seen = 0, 1, False
    for char in head[opening:].replace("->", "  "):
        if char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
            if depth == 0:
                break
        elif char == "," and depth == 1:
            count += 1
        seen = seen or (depth >= 1 and char not in "( \n")
    return count if seen else 0


def named(head):
    plain = without_templates(head)
    for match in NAME.finditer(plain):
        if match.group(1) not in NOT_NAMES:
            return match.group(1), parameters_of(plain, match.end() - 1)
    return "lambda", 0


def cxx_functions(code):
    """Yields (line, name, lines, parameters) of each function that has a body."""
    code = blank_preprocessor(code)
    starts = [0] + [match.end() for match in re.finditer("\n", code)]

    def line_of(index):
        return bisect.bisect_right(starts, index)

    start, index, parens = 0, 0, 0
    while index < len(code):
        char = code[index]
        parens += {"(": 1, ")": -1}.get(char, 0)
        if char in ";}" and parens == 0:
            start = index + 1
        elif char == "{":
            kind = kind_of(code[start:index]) if parens == 0 else "value"
            if kind == "scope":
                start = index + 1
            else:
                end = matching(code, index)
                if kind == "function":
                    head = code[start:index]
                    first = start + len(head) - len(head.lstrip())
                    name, parameters = named(head)
                    yield line_of(first), name, line_of(end) - line_of(first) + 1, parameters
                    start = end + 1
                index = end
        index += 1
