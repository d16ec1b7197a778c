"""The heart alone, as somebody has it who installed nothing else; and moved names."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import satchel
from satchel import moved
from satchel.cli import main
from satchel.errors import MissingPathError
from satchel.products import COMMANDS
from satchel.testing import write_pack
from tests.functional.library import run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
MOVED: dict[str, str] = vars(satchel)["_MOVED"]  # not in the stub
OF_THE_HEART = ("list", "show", "find", "prompt", "why", "doctor", "cost", "completion")
SHOWN = {"completion": "complete", "doctor": "1 pack", "show": "# Steps"}


@pytest.fixture(scope="module")
def heart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy ``src/satchel`` alone: what a wheel of it would install."""
    folder = tmp_path_factory.mktemp("heart")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/satchel", folder / "satchel", ignore=ignored)
    return folder


def alone(heart: Path, *arguments: str, cwd: Path) -> tuple[int, str]:
    """Run Python with the heart and the libraries, but nothing next to the heart."""
    libraries = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(heart), *libraries]),
        "HOME": str(cwd),
        "COLUMNS": "200",
    }
    # -S: no .pth file brings this checkout.
    done = subprocess.run(
        [sys.executable, "-S", "-W", "ignore", *arguments],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout


def first_block() -> str:
    """Return the first block of Python in README.md, without its prompts."""
    match = re.search(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert match is not None
    return match[1]


@pytest.mark.slow
def test_the_first_block_of_the_readme_runs(heart: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/skills", tmp_path / "skills")
    path = tmp_path / "block.py"
    path.write_text(first_block(), "utf-8")

    status, output = alone(heart, str(path), cwd=tmp_path)

    assert (status, "Traceback" in output) == (0, False), output


@pytest.mark.slow
@pytest.mark.parametrize("command", OF_THE_HEART)
def test_a_command_of_the_heart_runs(heart: Path, tmp_path: Path, command: str) -> None:
    write_pack(tmp_path / "skills", "tax-forms", "Use to fill in tax forms.")
    given = {"show": ["tax-forms"], "why": ["tax-forms"], "find": ["tax form"]}
    more = ["bash"] if command == "completion" else ["skills"]
    arguments = [command, *given.get(command, []), *more]

    status, output = alone(heart, "-m", "satchel", *arguments, cwd=tmp_path)

    assert status == 0, output
    assert SHOWN.get(command, "tax-forms") in output


# Runs commands, or statements of Python, one after another, since to start a process
# for each takes longer; prints the status and the output of each.
COMMANDS_IN_ONE = """
import contextlib, io, json, sys
from satchel.cli import main
for command in sys.argv[1:]:
    shown, status = io.StringIO(), 0
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        try: main([command, "x"])
        except SystemExit as ended: status = ended.code
    print(json.dumps([status, shown.getvalue()]))
"""
STATEMENTS_IN_ONE = """
import sys, satchel, satchel.usage
from importlib import import_module
from satchel import Satchel, errors, sources
for code in sys.argv[1:]:
    try: exec(code)
    except errors.ProductMissingError as error: print(error.product)
    else: print("nothing is missing")
"""


def test_a_command_of_an_absent_product_answers_with_one_line(
    heart: Path, tmp_path: Path
) -> None:
    commands = sorted(COMMANDS)
    _, lines = alone(heart, "-c", COMMANDS_IN_ONE, *commands, cwd=tmp_path)
    first = alone(heart, "-m", "satchel", commands[0], "x", cwd=tmp_path)

    answers = [json.loads(line) for line in lines.splitlines()]
    assert answers[0] == [*first]
    for command, (status, output) in zip(commands, answers, strict=True):
        needs = f"error: satchel {command} needs {COMMANDS[command]}, "
        assert (status, output.count("\n")) == (2, 1)
        assert output.startswith(needs)


def test_what_an_absent_product_does_is_one_error(heart: Path, tmp_path: Path) -> None:
    expected = {
        "Satchel('https://skills.example')": "satchel_store",
        "Satchel('a.zip')": "satchel_store",
        "sources.released('.')": "satchel_store",
        "sources.prefixed(sources.folder('.'), '{plugin}')": "satchel_store",
        "sources.mcp('https://skills.example/mcp')": "satchel_server",
        "Satchel('skills', sinks=[]).check()": "satchel_lab",
        "satchel.load_skill": "satchel_compat",
        "satchel.usage.EventStore": "satchel_server",
        "import_module('satchel.lint')": "satchel_lab",
    }
    write_pack(tmp_path / "skills", "tax-forms")
    (tmp_path / "a.zip").write_bytes(b"PK")

    status, output = alone(heart, "-c", STATEMENTS_IN_ONE, *expected, cwd=tmp_path)

    assert (status, output.split()) == (0, [*expected.values()]), output


def test_a_marketplace_needs_no_product(heart: Path, tmp_path: Path) -> None:
    """Its packs are listed, and a conflict has advice, though nothing reads plugins."""
    for name in ("a", "b"):
        write_pack(tmp_path / "lib" / name, "tax-forms", body=f"Do {name}.")
    market = tmp_path / "lib/.claude-plugin/marketplace.json"
    market.parent.mkdir()
    market.write_text("{", "utf-8")

    status, output = alone(heart, "-m", "satchel", "list", "lib", cwd=tmp_path)

    assert status == 1
    assert "--prefix '{" in output


def test_events_are_not_asked_for_where_nothing_stores_them(
    heart: Path, tmp_path: Path
) -> None:
    """But a store that somebody names is missed aloud."""
    write_pack(tmp_path / "skills", "tax-forms")
    show = ("-m", "satchel", "show", "tax-forms", "skills")
    assert alone(heart, *show, cwd=tmp_path)[0] == 0

    code = "import os, satchel.usage; os.environ['SATCHEL_USAGE'] = 'sqlite:'\n"
    code += "try: satchel.usage.usage_sinks()\nexcept ImportError as e: print(e)"
    output = alone(heart, "-c", code, cwd=tmp_path)[1]

    assert output.startswith("SATCHEL_USAGE=sqlite: needs satchel_server, ")


def test_another_distribution_can_add_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_plugin(tmp_path, "satchel.commands", "greet", "more_commands:greet")
    program = "import click\n\n@click.command()\ndef greet(): click.echo('hello')\n"
    tmp_path.joinpath("more_commands.py").write_text(program, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(SystemExit) as ended:
        main(["greet"])

    assert ended.value.code == 0


def add_plugin(folder: Path, group: str, name: str, value: str) -> None:
    info = folder / "more-1.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text("Name: more\nVersion: 1\n", "utf-8")
    entry = f"[{group}]\n{name} = {value}\n"
    info.joinpath("entry_points.txt").write_text(entry, "utf-8")


@pytest.mark.parametrize(
    ("group", "arguments"),
    [("satchel.commands", ["own"]), ("satchel.addresses", ["list", "own://x"])],
)
def test_what_another_distribution_breaks_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, arguments: list[str]
) -> None:
    add_plugin(tmp_path, group, "own", "nowhere:own")
    monkeypatch.syspath_prepend(str(tmp_path))

    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {group}, 'own' of more: nowhere:own ")


def test_another_distribution_can_add_a_scheme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_plugin(tmp_path, "satchel.addresses", "own", "more_schemes:opened")
    program = (
        "from satchel import Skill, sources\n"
        "def opened(address, **options):\n"
        "    assert sorted(options) == ['allow_private', 'limits', 'pin']\n"
        "    return sources.memory(Skill(address[6:], description='Use it.',"
        " instructions='Do.'))\n"
    )
    tmp_path.joinpath("more_schemes.py").write_text(program, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    with satchel.Satchel("own://alpha", sinks=[]) as skills:
        assert [entry.id for entry in skills] == ["alpha"]
    with pytest.raises(MissingPathError):
        satchel.Satchel("other://alpha", sinks=[])


def test_code_without_a_name_may_use_an_old_path() -> None:
    with pytest.warns(DeprecationWarning, match="check_loader"):
        exec("from satchel.testing import check_loader", {})  # noqa: S102


def test_an_old_folder_without_modules_hides_nothing(
    heart: Path, tmp_path: Path
) -> None:
    """As git leaves it where Python had compiled what was there."""
    (heart / "satchel" / "lint").mkdir(exist_ok=True)
    code = "try: import satchel.lint\nexcept ImportError as error: print(error)"

    assert "satchel_lab" in alone(heart, "-c", code, cwd=tmp_path)[1]


def test_what_the_heart_alone_lacks_for_tests_is_named(
    heart: Path, tmp_path: Path
) -> None:
    code = (
        "from satchel.testing import write_pack\n"
        "try: from satchel.testing import rehearse\n"
        "except ImportError as error: print(error)"
    )
    status, said = alone(heart, "-c", code, cwd=tmp_path)

    assert status == 0
    assert said.startswith("satchel.testing.rehearse needs satchel_lab, which is not")


def in_stub(path: str) -> tuple[dict[str, str], object]:
    """Return the module of each name that a stub imports, and what it lists."""
    stub = ast.parse((ROOT / "src" / path).read_text("utf-8"))
    homes = {
        name.asname or name.name: node.module or ""
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    listed = next(node.value for node in stub.body if isinstance(node, ast.Assign))
    return homes, ast.literal_eval(listed)


def test_the_stub_has_the_names_of_the_front_door() -> None:
    homes, listed = in_stub("satchel/__init__.pyi")

    assert homes.keys() == {*vars(satchel)["_HOMES"], "errors", "sources"}
    assert listed == vars(satchel)["__all__"]


def test_the_stub_has_the_names_of_the_door_of_tests() -> None:
    homes, listed = in_stub("satchel/testing/__init__.pyi")
    door = import_module("satchel.testing")

    assert listed == door.__all__
    assert {*door.__all__} <= homes.keys()
    for name, home in homes.items():
        assert getattr(door, name) is getattr(import_module(home), name)


@pytest.mark.parametrize("path", [p for p in MOVED if "__main__" not in p])
def test_an_old_path_of_a_module_works_and_warns(path: str) -> None:
    sys.modules.pop(path, None)
    with pytest.warns(DeprecationWarning, match=f"{path} is ") as caught:
        module = import_module(path)

    assert module is import_module(MOVED[path])
    assert module.__spec__ is not None
    assert module.__spec__.name == MOVED[path]
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("room", "name"),
    [(room, name) for room, names in moved.NAMES.items() for name in names],
)
def test_an_old_path_of_a_name_works_and_warns_where_it_is_used(
    room: str, name: str
) -> None:
    old = import_module(room)
    with pytest.warns(DeprecationWarning, match="the old name goes") as caught:
        value = getattr(old, name)

    home, _, new = moved.NAMES[room][name].partition(":")
    assert value is getattr(import_module(home), new or name)
    assert caught[0].filename == __file__


def test_a_module_that_never_was_is_missing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModuleNotFoundError, match=r"satchel\.nothing"):
            import_module("satchel.nothing")
        with pytest.raises(AttributeError, match="nothing"):
            getattr(satchel, "nothing")  # noqa: B009 - a checker knows


def test_a_program_of_a_moved_module_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "satchel.testing.hostile", "-h"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert done.returncode == 0
    assert b"--loader" in done.stdout
