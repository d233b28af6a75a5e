"""Each check finds what is wrong in its sample tree, all of it and nothing else."""

import importlib
import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from tree import Exceptions, Finding, Tree  # noqa: E402

SAMPLES = HERE / "samples"


def findings_of(check):
    """The check's findings over a copy of its samples (the walk skips folders called samples)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        shutil.copytree(SAMPLES / check, root)
        shutil.copy(HERE.parent.parent / ".clang-format", root)
        (root / "compile_commands.json").write_text("[]")
        found = importlib.import_module(f"check_{check}").check(Tree(root), root)
        return [str(f) for f in found if f.path.startswith("src/")]


class SamplesTest(unittest.TestCase):
    def compare(self, check):
        expected = (SAMPLES / check / "expected.txt").read_text().splitlines()
        found = findings_of(check)
        for line in expected:
            place, _, words = line.partition(": ")
            matches = [f for f in found if f.startswith(place + ":") and words in f]
            self.assertTrue(matches, f"not found: {line}\nfound: {found}")
        self.assertEqual(len(found), len(expected), found)

    def test_layers(self):
        self.compare("layers")

    def test_tokens(self):
        self.compare("tokens")

    def test_sizes(self):
        self.compare("sizes")

    def test_words(self):
        self.compare("words")

    def test_format(self):
        self.compare("format")

    def test_manual(self):
        self.compare("manual")

    def test_headers(self):
        self.compare("headers")


class ExceptionsTest(unittest.TestCase):
    def exceptions(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return Exceptions(file.name)

    def test_an_exception_excuses_the_named_detail_only(self):
        exceptions = self.exceptions("tokens src/a.cc clock -- measured here\n")
        findings = [Finding("src/a.cc", 1, "clock", "x"), Finding("src/a.cc", 2, "mutex", "y")]
        self.assertEqual(exceptions.split("tokens", findings), findings[1:])

    def test_an_exception_that_excuses_nothing_is_a_finding(self):
        exceptions = self.exceptions("tokens src/a.cc clock -- measured here\n")
        self.assertEqual([f.detail for f in exceptions.split("tokens", [])], ["unused"])

    def test_an_exception_without_a_reason_is_refused(self):
        with self.assertRaises(SystemExit):
            self.exceptions("tokens src/a.cc clock\n")


if __name__ == "__main__":
    unittest.main()
