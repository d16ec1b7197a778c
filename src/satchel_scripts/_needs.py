"""What the scripts of a pack need; nothing of them is run.

A Python script's needs are its inline metadata (PEP 723), else what it imports as it
starts; the requirements files of its pack are added. An import in a ``try`` or a
function may fail, and is no need. A shell script needs the programs that it calls.
"""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, cast

from satchel.errors import SkillError
from satchel.model import Descriptor
from satchel.runtime import Satchel
from satchel.text import decode
from satchel_scripts._programs import lacking_programs

# Distributions that are called otherwise than what is imported from them.
_DISTRIBUTIONS: Final = {
    "Crypto": "pycryptodome",
    "PIL": "pillow",
    "absl": "absl-py",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "git": "gitpython",
    "google.oauth2": "google-auth",
    "google.protobuf": "protobuf",
    "googleapiclient": "google-api-python-client",
    "jwt": "pyjwt",
    "magic": "python-magic",
    "pptx": "python-pptx",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
# Folders that many distributions share, and those below them: each name under one is
# that of a distribution.
_SHARED: Final = {
    *("azure", "azure.ai", "azure.data", "azure.keyvault", "azure.mgmt"),
    *("azure.monitor", "azure.search", "azure.storage", "google", "google.cloud"),
}
_ASK: Final = """
import importlib.metadata as m, importlib.util as u, json, sys
def found(name):
    try:
        return u.find_spec(name)
    except ImportError:
        return None
imports, names = json.load(sys.stdin)
have = {str(d.name).lower().replace("_", "-"): d.version for d in m.distributions()}
print(json.dumps([[n for n in imports if not found(n)],
                  {n: have.get(n.lower().replace("_", "-")) for n in names}]))
"""
_ASK_S: Final = 20.0
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Needs:
    """What scripts need: requirements that say so, and names that they import."""

    requirements: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingNeeds:
    """What is not there: requirements of an interpreter, and programs of shell scripts.

    ``programs`` may have the network, with the programs that ask it.
    """

    requirements: tuple[str, ...]
    python: str
    programs: tuple[str, ...] = ()

    @property
    def install(self) -> str:
        """A command for the operator's shell; empty without requirements."""
        if not self.requirements:
            return ""
        return shlex.join([self.python, "-m", "pip", "install", *self.requirements])


def missing_for(
    entry: Descriptor,
    read: Callable[[str], bytes],
    python: str = sys.executable,
    path: str | None = None,
    *,
    network: bool = True,
) -> MissingNeeds | None:
    """Return what the scripts of a skill need and is not there; None for nothing.

    ``read`` gives the bytes of a listed file, and ``path`` is the PATH of scripts, by
    default that of this process. Where the interpreter cannot be asked, nothing of it
    is known to be missing.
    """
    files: dict[str, str] = {}
    shell_scripts: list[bytes] = []
    for file in entry.resources:
        with suppress(SkillError):
            if file.endswith(".py") or file.rpartition("/")[2] == "requirements.txt":
                files[file] = decode(read(file)).text
            elif file.endswith(".sh"):
                shell_scripts.append(read(file))
    programs = lacking_programs(shell_scripts, path, network=network)
    lacking = MissingNeeds((), python)
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        lacking = missing(needs_of(files), python)
    lacking = replace(lacking, programs=programs)
    return lacking if lacking.requirements or programs else None


def missing_in(skills: Satchel) -> Iterator[tuple[str, MissingNeeds]]:
    """Yield what is not on this machine, for each listed skill of it."""
    most = skills.limits.file_bytes
    for entry in skills.catalog:
        reader = skills.catalog.readers[entry.source]

        def read(path: str, key: str = entry.origin.key) -> bytes:
            return reader.read(key, path, most)  # noqa: B023 - called at once

        if reader.near and (lacking := missing_for(entry, read)):
            yield entry.id, lacking


def needs_of(files: Mapping[str, str]) -> Needs:
    """Return what the Python scripts among these texts need, by path in the pack."""
    scripts = {path: text for path, text in files.items() if path.endswith(".py")}
    local = {name for path in scripts for name in path.removesuffix(".py").split("/")}
    requirements: dict[str, None] = {}
    imports: set[str] = set()
    for path, text in sorted(scripts.items()):
        inline = _inline(text)
        requirements |= dict.fromkeys(inline or ())
        if inline is None:
            imports.update(name for name in _imports(path, text) if name not in local)
    for path, text in sorted(files.items()):
        if path not in scripts and scripts:
            requirements |= dict.fromkeys(_lines(text))
    return Needs(tuple(requirements), tuple(sorted(imports)))


def missing(needs: Needs, python: str = sys.executable) -> MissingNeeds:
    """Return what an interpreter lacks; it is asked, and imports nothing of it.

    Without the extra ``scripts`` versions and markers are not looked at.
    """
    parsed = dict(filter(None, map(_parsed, needs.requirements)))
    absent, versions = _ask(python, needs.imports, tuple(parsed))
    lacking = {
        name.lower(): text
        for name, (text, fits) in parsed.items()
        if not fits(versions[name])
    }
    named = {name.lower() for name in parsed}
    for name in absent:
        plain = name.replace("_", "-").replace(".", "-")
        distribution = _DISTRIBUTIONS.get(name, plain)
        if distribution.lower() not in named:
            lacking.setdefault(distribution.lower(), distribution)
    return MissingNeeds(tuple(sorted(lacking.values())), python)


def _parsed(line: str) -> tuple[str, tuple[str, Callable[[str | None], bool]]] | None:
    """Return a requirement's name, its text, and which versions will do; or None.

    An address is left out of the text: nobody is to install from it unseen.
    """
    try:
        from packaging.requirements import InvalidRequirement, Requirement
    except ModuleNotFoundError:
        name = _NAME.match(line)
        return (name[0], (name[0], bool)) if name and ";" not in line else None
    try:
        asked = Requirement(line)
        if asked.marker is not None and not asked.marker.evaluate():
            return None
    except (InvalidRequirement, ValueError):
        return None
    asked.url = asked.marker = None

    def fits(version: str | None) -> bool:
        versions = asked.specifier
        return version is not None and versions.contains(version, prereleases=True)

    return asked.name, (str(asked), fits)


@lru_cache(maxsize=256)
def _ask(
    python: str, imports: tuple[str, ...], names: tuple[str, ...]
) -> tuple[list[str], dict[str, str | None]]:
    """Return which imports are not there, and the version of each distribution."""
    if not imports and not names:
        return [], {}
    answer = subprocess.run(
        [python, "-I", "-c", _ASK],
        input=json.dumps([imports, names]),
        capture_output=True,
        check=True,
        text=True,
        timeout=_ASK_S,
    )
    absent, versions = json.loads(answer.stdout)
    return absent, versions


def _inline(text: str) -> list[str] | None:
    """Return the dependencies of inline metadata; None where there is none."""
    lines = iter(text.splitlines())
    if "# /// script" not in lines:
        return None
    block: list[str] = []
    for line in lines:
        if line == "# ///":
            break
        if not line.startswith("#"):
            return None
        block.append(line.removeprefix("#").removeprefix(" "))
    try:
        named = tomllib.loads("\n".join(block)).get("dependencies", [])
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return [*map(str, cast("list[object]", named))] if isinstance(named, list) else None


def _lines(text: str) -> Iterator[str]:
    """Yield the requirements of a file; options, and other files, are none."""
    for line in text.splitlines():
        requirement = line.partition(" #")[0].strip()
        if requirement and not requirement.startswith(("#", "-")):
            yield requirement


def _imports(path: str, text: str) -> Iterable[str]:
    """Return what a script imports as it starts, but for the standard library."""
    try:
        statements = ast.parse(text, path).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    names: list[str] = []
    for statement in statements:
        if isinstance(statement, ast.Import):
            names += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            module = statement.module or ""
            below = [f"{module}.{alias.name}" for alias in statement.names]
            names += below if module in _SHARED else [module]
        elif isinstance(statement, ast.If):
            statements += statement.body
    tops = map(_top, names)
    return [top for top in tops if top not in sys.stdlib_module_names]


def _top(name: str) -> str:
    """Return the part of a dotted name that one distribution brings."""
    first, *rest = name.split(".")
    while first in _SHARED and rest:
        first = f"{first}.{rest.pop(0)}"
    return first
