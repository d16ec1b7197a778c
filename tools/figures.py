"""Measure the house: the code of each product, its doors, and its routes.

Run as ``make figures``; ``python -m tools.figures --show ROUTE`` lists what a route
enters. A figure has a bar where one was set; `tests/test_house.py` holds those bars.

A route is every file and function of Satchel that one call enters, in all threads,
counted with `sys.setprofile`; comprehensions, lambdas and generated methods are left
out. Each is walked once before it is counted, so that imports do not count.
"""

from __future__ import annotations

import ast
import inspect
import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from types import FrameType

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src"
MAX_FUNCTION_LINES: Final = 71
# Lines of code that each product may have. To raise one is a decision page that says
# what was removed: CONTRIBUTING.md.
BUDGETS: Final = {
    "satchel": 28_840,
    "satchel_store": 3_920,
    "satchel_server": 12_685,
    "satchel_lab": 19_560,
    "satchel_compat": 2_150,
    "satchel_scripts": 1_900,
    "satchel_install": 3_600,
}
# Lines and files that the default run of an agent may import.
IMPORTED_LINES: Final = 16_310
IMPORTED_FILES: Final = 75
_WITH_DOCSTRING: Final = (
    ast.Module,
    ast.ClassDef,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
)
_NO_CODE: Final = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
        *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
    }
)
_LEFT_OUT: Final = frozenset(
    {"<listcomp>", "<genexpr>", "<lambda>", "<dictcomp>", "<setcomp>", "<module>"}
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure; ``bar`` is the most that it may be, None where nothing holds it."""

    name: str
    value: int
    bar: int | None = None

    @property
    def holds(self) -> bool:
        """Whether it is within its bar."""
        return self.bar is None or self.value <= self.bar


# --- what can be read ----------------------------------------------------------------


def source_files() -> list[Path]:
    """Return the modules of Satchel; what ships as a pack is data."""
    return sorted(
        path
        for path in SOURCE.rglob("*.py")
        if "packs" not in path.relative_to(SOURCE).parts
    )


def code_lines(path: Path) -> int:
    """Return the lines of a module that are neither docstring, comment nor blank."""
    text = path.read_text("utf-8")
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False):
            first = node.body[0]
            prose.update(range(first.lineno, (first.end_lineno or 0) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - prose)


def product_of(path: Path) -> str:
    """Return the product that a module belongs to."""
    return path.relative_to(SOURCE).parts[0]


class Survey(NamedTuple):
    """What one walk over the syntax of all modules finds."""

    classes: dict[str, list[str]]
    """The modules that define a class of this name, adapters left out."""
    functions: list[tuple[int, str]]
    """The length in lines of each function, with its name."""
    methods: dict[str, dict[str, tuple[list[str], set[str]]]]
    """Of each product, the bases and public methods of each class."""


@cache
def survey() -> Survey:
    """Walk over the syntax of all modules."""
    found = Survey({}, [], {product: {} for product in BUDGETS})
    for path in source_files():
        module = _module_of(path)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.methods[product_of(path)][node.name] = _bases_and_methods(node)
                if path.parent.name != "adapters":
                    found.classes.setdefault(node.name, []).append(module)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                found.functions.append((length, f"{module}.{node.name}"))
    return found


def repeated_classes() -> dict[str, list[str]]:
    """Return the class names that two modules outside of the adapters define."""
    classes = sorted(survey().classes.items())
    return {name: homes for name, homes in classes if len(homes) > 1}


def _bases_and_methods(node: ast.ClassDef) -> tuple[list[str], set[str]]:
    bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
    methods = {
        each.name
        for each in node.body
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
        and not (each.decorator_list or each.name.startswith("_"))
    }
    return bases, methods


def verb_homes(product: str) -> dict[str, set[str]]:
    """Return the public classes of a product that have each public method.

    Properties are none, nor is what a class takes over from a base of the product.
    """
    classes = survey().methods[product]
    bases = {name: of for name, (of, _) in classes.items()}
    methods = {name: of for name, (_, of) in classes.items()}

    def inherited(name: str) -> set[str]:
        above = [
            methods.get(base, set()) | inherited(base) for base in bases.get(name, ())
        ]
        return set[str]().union(*above)

    homes: dict[str, set[str]] = {}
    for name, verbs in methods.items():
        if not name.startswith("_"):
            for verb in verbs - inherited(name):
                homes.setdefault(verb, set()).add(name)
    return homes


def long_functions(lines: int = MAX_FUNCTION_LINES) -> list[tuple[int, str]]:
    """Return the functions of more than so many lines, the longest first."""
    return sorted((f for f in survey().functions if f[0] > lines), reverse=True)


def front_door_keywords() -> int:
    """Return how many keywords `satchel.Satchel` takes."""
    from satchel import Satchel

    parameters = inspect.signature(Satchel).parameters.values()
    return sum(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters)


# What every agent does: open, prompt, offer tools, load, search.
_DEFAULT_RUN: Final = """
import sys
from satchel import Satchel

skills = Satchel("examples/skills", sinks=[])
str(skills.prompt())
session = skills.session()
session.instructions("")
session.tools()
session.call("load_skill", {"skill_id": skills.catalog.entries[0].id})
skills.find("tax form")
names = [name for name in sys.modules if name.partition(".")[0].startswith("satchel")]
print(*{getattr(sys.modules[name], "__file__", None) for name in names} - {None})
"""


def default_run() -> tuple[int, int]:
    """Return how many lines and files of ours the default run of an agent imports."""
    # Without the index that the user may have, which is imported where it is there.
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", _DEFAULT_RUN],
            cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": cache},
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
    files = [Path(name) for name in done.stdout.split()]
    return _lines(files)[0], len(files)


def _module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _lines(files: Sequence[Path]) -> tuple[int, int]:
    """Return the lines of files, and those of them that are comments alone."""
    lines = [line for path in files for line in path.read_bytes().splitlines()]
    return len(lines), sum(line.lstrip().startswith(b"#") for line in lines)


# --- what has to be walked -----------------------------------------------------------


class Tracer:
    """Notes what of Satchel is entered while it is armed."""

    def __init__(self) -> None:
        """Start disarmed, in this thread and all that begin from now on."""
        self._entered: dict[tuple[str, str], None] | None = None
        threading.setprofile(self._note)

    def trace(self, call: Callable[[], object]) -> list[tuple[str, str]]:
        """Return the file and function of each that ``call`` enters, in order."""
        entered: dict[tuple[str, str], None] = {}
        self._entered = entered
        sys.setprofile(self._note)
        try:
            call()
        finally:
            sys.setprofile(None)
            self._entered = None
        return list(entered)

    def _note(self, frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG002
        entered = self._entered
        if event != "call" or entered is None:
            return
        code = frame.f_code
        if code.co_filename.startswith(str(SOURCE)) and code.co_name not in _LEFT_OUT:
            file = code.co_filename[len(str(SOURCE)) + 1 :]
            entered.setdefault((file, code.co_qualname))


def walk_routes() -> dict[str, list[tuple[str, str]]]:
    """Return what each route enters, by the route's name."""
    from satchel import Policy, Satchel, deny

    folder = ROOT / "examples" / "skills"
    tracer = Tracer()
    # An index that is in the cache of the user is no part of a route.
    os.environ["XDG_CACHE_HOME"] = os.devnull

    def opened(**options: Any) -> Satchel:  # noqa: ANN401
        return Satchel(folder, sinks=(), **options)

    skills = opened()
    skill = next(entry for entry in skills.catalog.entries if entry.resources)
    load = {"skill_id": skill.id}
    read = {"skill_id": skill.id, "path": skill.resources[0]}

    def loading(session: Any) -> list[tuple[str, str]]:  # noqa: ANN401
        return tracer.trace(lambda: session.call("load_skill", load))

    refusing = Policy(deny(skill.id, action="load"))
    for session in (opened().session(), opened(policy=refusing).session()):
        session.call("load_skill", load)
        session.call("read_skill_file", read)
    session = opened().session()
    routes = {"load_skill": loading(session)}
    routes["read_skill_file"] = tracer.trace(
        lambda: session.call("read_skill_file", read)
    )
    routes["load_skill, denied"] = loading(opened(policy=refusing).session())
    routes["load_skill, adapter"] = _through_base(tracer, opened, load)
    routes["Satchel(folder)"] = tracer.trace(opened)
    skills.prompt()
    skills.find("tax form")
    routes["prompt()"] = tracer.trace(opened().prompt)
    routes["find()"] = tracer.trace(lambda: skills.find("expense report"))
    with _client(tracer, opened()) as get:
        routes["GET /v1/skills/{id}"] = get(f"/v1/skills/{skill.id}")
    return routes | _with_index(tracer, folder)


def _with_index(tracer: Tracer, examples: Path) -> dict[str, list[tuple[str, str]]]:
    """Open a folder that an index has, as it was and with one changed pack."""
    from satchel import Options, Satchel
    from satchel.index import _stored_packs

    settled = patch.object(_stored_packs, "RACY_NS", 0)
    with tempfile.TemporaryDirectory() as home, settled:
        folder, index = Path(home, "skills"), Path(home, "index.db")
        shutil.copytree(examples, folder)
        skill = next(folder.rglob("SKILL.md"))

        def opened() -> None:
            Satchel(folder, sinks=(), options=Options(index=index)).close()

        opened()
        opened()
        routes = {"Satchel(folder), index": tracer.trace(opened)}
        skill.write_text(skill.read_text("utf-8") + "More.\n", "utf-8")
        opened()  # what only a pack that changed needs is imported
        skill.write_text(skill.read_text("utf-8") + "More.\n", "utf-8")
        routes["Satchel(folder), index, one changed"] = tracer.trace(opened)
    return routes


def _through_base(
    tracer: Tracer, opened: Callable[..., Any], load: dict[str, str]
) -> list[tuple[str, str]]:
    """Load through what every adapter is built on, as a framework's loop does."""
    from satchel.adapters._base import SessionFactory

    def ready() -> Callable[[], object]:
        factory = SessionFactory[object](opened(), None, None, {})
        return partial(factory.open(None).call, "load_skill", load)

    ready()()
    return tracer.trace(ready())


@contextmanager
def _client(
    tracer: Tracer,
    skills: Any,  # noqa: ANN401
) -> Generator[Callable[[str], list[tuple[str, str]]], None, None]:
    from starlette.testclient import TestClient

    from satchel_server import GuardSettings, ServedLibrary, guarded_app

    app: Any = guarded_app(ServedLibrary(skills), GuardSettings())
    local = {"base_url": "http://127.0.0.1:8000", "client": ("127.0.0.1", 50_000)}
    with TestClient(app, **local) as client:  # type: ignore[arg-type]

        def get(path: str) -> list[tuple[str, str]]:
            client.get(path).raise_for_status()
            return tracer.trace(lambda: client.get(path).raise_for_status())

        yield get


# --- together ------------------------------------------------------------------------


def house_figures() -> Iterator[Figure]:
    """Yield what can be read from the files."""
    sources = source_files()
    lines, comments = _lines(sources)
    tests = sorted((ROOT / "tests").rglob("*.py"))
    yield Figure("lines of src", lines)
    yield Figure("... of which comments alone", comments)
    yield Figure("files of src", len(sources))
    yield Figure("lines of tests", _lines(tests)[0])
    code: Counter[str] = Counter()
    for path in sources:
        code[product_of(path)] += code_lines(path)
    for product, budget in BUDGETS.items():
        yield Figure(f"code of {product}", code[product], budget)
    imported = default_run()
    yield Figure("lines that a default run imports", imported[0], IMPORTED_LINES)
    yield Figure("files that a default run imports", imported[1], IMPORTED_FILES)
    api = (ROOT / "tests" / "api.txt").read_text("utf-8")
    yield Figure("lines of tests/api.txt", api.count("\n"), 220)
    yield Figure("class names defined twice", len(repeated_classes()), 3)
    yield Figure(f"functions over {MAX_FUNCTION_LINES} lines", len(long_functions()), 0)
    yield Figure("keywords of Satchel", front_door_keywords(), 11)


def route_figures() -> Iterator[Figure]:
    """Yield the files and functions of each route: reported, without a bar.

    A bar on a route became what the code was written for; scope is what counts.
    """
    for name, entered in walk_routes().items():
        yield Figure(f"{name}: files", len({file for file, _ in entered}))
        yield Figure(f"{name}: functions", len(entered))


def main(arguments: Sequence[str]) -> int:
    """Print the figures, or what one route enters."""
    if arguments[:1] == ["--show"]:
        for file, function in walk_routes()[arguments[1]]:
            print(f"{file}: {function}")
        return 0
    figures = [*house_figures(), *route_figures()]
    for figure in figures:
        bar = "" if figure.bar is None else f"  (at most {figure.bar})"
        mark = "" if figure.holds else "  too many"
        print(f"{figure.name:42} {figure.value:7,}{bar}{mark}")
    return not all(figure.holds for figure in figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
