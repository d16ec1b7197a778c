"""The same packs give the same bytes: in other processes, in other orders."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fakes import pack

NAMES = tuple("amber basalt cedar dune ember fjord grove heath islet".split())  # noqa: SIM905 - short

PROGRAM = """\
import itertools, json, sys
from satchel import Satchel

def told(folders):
    skills = Satchel(*folders)
    first = skills.sync()
    assert skills.sync() == first, "a second sync is another one"
    for shape in ("lean", "xml-id", "markdown", "xml-spec", "json"):
        for budget in (None, 4000, 200, 120, 60):
            yield str(skills.prompt(format=shape, budget_tokens=budget))
    for style in ("lean", "agent-skills", "packs", "references"):
        chat = skills.session(style=style)
        yield chat.instructions()
        for tool in chat.tools():
            yield json.dumps([tool.name, tool.description, tool.parameters])
        key = {"packs": "name", "references": "skill_name"}.get(style, "skill_id")
        name = "load_skill_instructions" if style == "references" else "load_skill"
        for skill in ("basalt", "islet", "nope"):
            yield json.dumps(chat.call(name, {key: skill}))
    yield repr([skills.find(query) for query in ("stone", "write", "nothing here")])
    yield repr([(entry.id, entry.digest, entry.resources) for entry in skills.catalog])
    yield repr([skills.digest(entry.id) for entry in skills.catalog])
    yield repr([skills.resources(entry.id) for entry in skills.catalog])
    yield repr((first, skills.findings))

every = [list(told(order)) for order in itertools.permutations(sys.argv[1:])]
assert all(each == every[0] for each in every), "another order of sources"
print("\\n".join(every[0]))
"""


def write(root: Path, order: Sequence[str]) -> list[str]:
    """Write nine packs into three folders, in this order; return the folders."""
    for name in order:
        home = root / f"part-{NAMES.index(name) % 3}" / name
        bodies = [
            ("SKILL.md", pack(name, f"Use to write of {name} and stone.", "# Do it\n")),
            *((f"references/{item}.md", f"# {item} of {name}\n") for item in "zyx"),
            ("scripts/run.sh", "echo\n"),
        ]
        if order is not NAMES:
            bodies.reverse()
        for path, text in bodies:
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    return [str(root / f"part-{entry}") for entry in range(3)]


@pytest.mark.slow
@pytest.mark.row("D16", "D17", "D43", "D32")
def test_the_same_packs_give_the_same_bytes_everywhere(tmp_path: Path) -> None:
    """Under other hash seeds, sources in any order, files made in another order.

    Each process looks at every order of the three sources, and syncs three times. The
    paths are the same in all of them, so that findings may be compared, too.
    """
    printed: dict[str, str] = {}
    orders = (NAMES, NAMES[::-1], sorted(NAMES, key=lambda name: name[::-1]))
    for seed, order in zip(("0", "1", "4242"), orders, strict=True):
        home = tmp_path / "packs"
        folders = write(home, order)
        printed[seed] = subprocess.run(
            [sys.executable, "-c", PROGRAM, *folders],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        home.rename(tmp_path / f"packs-{seed}")

    texts = set(printed.values())
    if len(texts) > 1:  # said by hand: pytest would compare whole texts for minutes
        one, two, *_ = (text.splitlines() for text in texts)
        pairs = zip(one, two, strict=False)
        pytest.fail(next((f"{a!r} != {b!r}" for a, b in pairs if a != b), "longer"))
    (text,) = texts
    places = [text.index(f"\n- {name}: ") for name in NAMES]
    assert places == sorted(places)
    assert text.count("sha256-tree-v1:") == len(NAMES)
