"""Who includes whom: the include graph of src/ against layers.txt, third-party headers against libraries.txt."""

import fnmatch
import pathlib
import re

from tree import Finding, rule_lines

HERE = pathlib.Path(__file__).parent


def load_layers(path):
    layers = {}
    for number, line in rule_lines(path):
        folder, colon, allowed = line.partition(":")
        if not colon:
            raise SystemExit(f"{path}:{number}: want 'folder: folders', have '{line}'")
        layers[folder.strip()] = set(allowed.split())
    for folder, allowed in layers.items():
        for name in allowed - set(layers):
            raise SystemExit(f"{path}: {folder} may include '{name}', which is not a layer")
    return layers


def load_libraries(path):
    return [(re.compile(pattern), allowed.split())
            for _, line in rule_lines(path)
            for pattern, _, allowed in [line.partition(": ")]]


def layer_of(folder, layers):
    """The longest layer that is the folder or one of its parents."""
    parts = folder.split("/")
    for length in range(len(parts), 0, -1):
        if "/".join(parts[:length]) in layers:
            return "/".join(parts[:length])
    return None


def cycles(layers):
    """Layers that may, through others, include themselves."""
    def reaches(start):
        seen, todo = set(), list(layers[start])
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += layers[name]
        return seen
    return sorted(name for name in layers if name in reaches(name))


def check_include(tree, layers, path, layer, line, name):
    if name.endswith(".pb.h"):
        return None  # generated; libraries.txt says who may
    target = layer_of(str(pathlib.PurePosixPath(name).parent), layers)
    if not tree.has(f"src/{name}"):
        return Finding(path, line, name, f'"{name}" is not a file below src/')
    if target is None:
        return Finding(path, line, name, f'"{name}" lies in no layer of layers.txt')
    if target != layer and target not in layers[layer]:
        return Finding(path, line, name, f"layer {layer} may not include layer {target} ({name})")
    return None


def check_library(libraries, path, layer, line, name):
    for pattern, allowed in libraries:
        if pattern.search(name) and not any(fnmatch.fnmatchcase(layer, glob) for glob in allowed):
            return Finding(path, line, name, f"layer {layer} may not include <{name}>; allowed in {' '.join(allowed)}")
    return None


def check(tree, _build):
    layers = load_layers(HERE / "layers.txt")
    libraries = load_libraries(HERE / "libraries.txt")
    findings = [Finding("tests/lint/layers.txt", 1, name, f"layer {name} reaches itself") for name in cycles(layers)]
    for path in tree.cxx("src"):
        layer = layer_of(str(pathlib.PurePosixPath(path).parent.relative_to("src")), layers)
        if layer is None:
            findings.append(Finding(path, 1, "folder", "the folder is in no layer of layers.txt"))
            continue
        for line, name, quoted in tree.includes(path):
            if quoted:
                findings.append(check_include(tree, layers, path, layer, line, name))
            findings.append(check_library(libraries, path, layer, line, name))
    return [finding for finding in findings if finding]
