"""The files of the repository as the checks see them: listed once, comments and strings blanked, exceptions by name."""

import dataclasses
import os
import pathlib
import re

SKIPPED_FOLDERS = {".git", "build", "__pycache__", "samples"}
CXX_ENDINGS = (".cc", ".h")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One breach of a rule. `detail` is the word by which exceptions.txt can name it."""

    path: str
    line: int
    detail: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Tree:
    """All files below `root` that belong to the product, by path relative to it."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self._texts = {}

    def files(self, *endings, under=""):
        """Sorted relative paths with one of the endings (all files if none is given) below the folder `under`.

        Without `.git`, which is a file in a linked worktree."""
        found = []
        for folder, folders, names in os.walk(self.root / under):
            folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
            base = pathlib.Path(folder).relative_to(self.root)
            found += [str(base / name) for name in names if name != ".git" and (not endings or name.endswith(endings))]
        return sorted(found)

    def cxx(self, under=""):
        return self.files(*CXX_ENDINGS, under=under)

    def has(self, path):
        return (self.root / path).is_file()

    def text(self, path):
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._texts[path]

    def code(self, path):
        """The text with comments, strings and character literals blanked; line numbers are kept."""
        return blank(self.text(path))

    def includes(self, path):
        """(line, name, is_quoted) of each #include."""
        pattern = re.compile(r'^\s*#\s*include\s+([<"])([^">]+)[">]')
        found = []
        for number, line in enumerate(self.text(path).splitlines(), 1):
            match = pattern.match(line)
            if match:
                found.append((number, match.group(2), match.group(1) == '"'))
        return found


BLANKED = re.compile(
    r'R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)"'  # raw string
    r"|//(?:\\\n|[^\n])*"
    r"|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.[^'\n]*|[^'\\\n])'",
    re.DOTALL,
)


def blank(text):
    return BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def rule_lines(path):
    """(number, line) of a rules file without comment lines ("# ...") and empty lines."""
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()


class Exceptions:
    """exceptions.txt: "check path detail -- reason". One that excuses nothing is itself a finding."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.entries = {}
        if self.path.exists():
            for number, line in rule_lines(self.path):
                self._add(number, line)

    def _add(self, number, line):
        match = re.fullmatch(r"(\w+) (\S+) (\S+) -- (\S.*)", line)
        if not match:
            raise SystemExit(f"{self.path}:{number}: want 'check path detail -- reason', have '{line}'")
        self.entries[match.groups()[:3]] = number

    def split(self, check, findings):
        """The findings that nothing excuses, plus one for each exception that is no longer needed."""
        used = {(check, finding.path, finding.detail) for finding in findings} & set(self.entries)
        rest = [f for f in findings if (check, f.path, f.detail) not in used]
        for key, number in self.entries.items():
            if key[0] == check and key not in used:
                rest.append(Finding(str(self.path.name), number, "unused", f"exception for {key[1]} is not needed"))
        return rest
