"""Each header compiles alone. Results are kept by content, so that only what changed is compiled again.

A header that its own source includes first is not compiled here: the build has shown it.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess

from tree import Finding


def load_commands(build, root):
    """Per source, by path relative to `root`: the flags with which it is compiled."""
    commands = pathlib.Path(build) / "compile_commands.json"
    if not commands.exists():
        raise SystemExit(f"{commands} is missing; configure first: cmake --preset dev")
    flags = {}
    for entry in json.loads(commands.read_text()):
        path = pathlib.Path(entry["file"]).resolve()
        if path.is_relative_to(root):
            flags[str(path.relative_to(root))] = compile_flags(shlex.split(entry["command"]))
    return flags


def compile_flags(words):
    """What matters for the meaning of the text: defines, include folders, standard, warnings."""
    kept, index = [], 0
    while index < len(words):
        word = words[index]
        if word in ("-isystem", "-I", "-D"):
            kept += words[index:index + 2]
            index += 1
        elif word.startswith(("-I", "-D", "-std=", "-W", "-f", "-m")) and not word.startswith(("-flto", "-fuse-ld")):
            kept.append(word)
        index += 1
    return kept


def include_flags(flags):
    """All include folders of all sources: for headers whose folder has no source of its own."""
    kept = {}
    for words in flags:
        for index, word in enumerate(words):
            if word in ("-isystem", "-I"):
                kept[(word, words[index + 1])] = None
            elif word.startswith("-I"):
                kept[(word,)] = None
    return [word for pair in kept for word in pair] + ["-std=c++23"]


def closure(tree, path, seen=None):
    """The header and all project files that it includes, directly or not."""
    seen = seen if seen is not None else set()
    if path not in seen:
        seen.add(path)
        for _, name, quoted in tree.includes(path):
            for candidate in (f"src/{name}", str(pathlib.PurePosixPath(path).parent / name)):
                if quoted and tree.has(candidate):
                    closure(tree, candidate, seen)
    return seen


def key_of(tree, path, flags, compiler):
    digest = hashlib.sha256("\0".join([compiler, *flags]).encode())
    for name in sorted(closure(tree, path)) + tree.files(".proto", under="proto"):
        digest.update(name.encode() + b"\0" + tree.text(name).encode())
    return digest.hexdigest()


def compile_alone(tree, path, flags, cache):
    """The compiler's first error line, or nothing."""
    command = ["g++", *flags, "-fsyntax-only", "-Wno-unused", "-x", "c++", "-"]
    include = f'#include "{tree.root / path}"\n'
    result = subprocess.run(command, input=include, text=True, capture_output=True, cwd=tree.root, check=False)
    if result.returncode == 0:
        cache.touch()
        return None
    lines = [line for line in result.stderr.splitlines() if "error" in line] or ["the compiler failed"]
    return lines[0].replace(f"{tree.root}/", "")


def shown_by_the_build(tree, path, sources):
    """Whether the source of the same name is built and begins with this header."""
    source = str(pathlib.PurePosixPath(path).with_suffix(".cc"))
    included = tree.includes(source) if source in sources else []
    return bool(included) and included[0][2] and path in (f"src/{included[0][1]}", f"tests/{included[0][1]}",
                                                          str(pathlib.PurePosixPath(path).parent / included[0][1]))


def check(tree, build):
    commands = load_commands(build, tree.root)
    folders = {str(pathlib.PurePosixPath(path).parent): flags for path, flags in commands.items()}
    anywhere = include_flags(commands.values())
    compiler = subprocess.run(["g++", "--version"], text=True, capture_output=True, check=True).stdout
    cache = pathlib.Path(build) / "lint-headers"
    cache.mkdir(exist_ok=True)
    waiting = []
    for path in tree.files(".h", under="src") + tree.files(".h", under="tests"):
        if shown_by_the_build(tree, path, commands):
            continue
        mine = folders.get(str(pathlib.PurePosixPath(path).parent), anywhere)
        kept = cache / key_of(tree, path, mine, compiler)
        if not kept.exists():
            waiting.append((path, mine, kept))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(lambda item: (item[0], compile_alone(tree, *item)), waiting)
        return [Finding(path, 1, "header", f"does not compile alone: {error}") for path, error in answers if error]
