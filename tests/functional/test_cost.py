"""``satchel cost``: what skills cost a model, and a gate for CI."""

import json
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.prompt import render
from satchel.text import EstimateCounter
from tests.functional.library import run, write_pack

TEXT = "---\nname: {0}\ndescription: Use when {0} is due.\n---\n# {0}\n{1}"


@pytest.fixture(autouse=True)
def library(here: Path) -> Path:
    write_pack(here / "skills" / "short", TEXT.format("short", "Do it.\n"))
    files: dict[str, str | bytes] = {
        "references/a.md": "abcd" * 30,
        "assets/b.png": b"\x89PNG\x00\xff" * 9,
    }
    long = TEXT.format("long", "Word. " * 50)
    return write_pack(here / "skills" / "long", long, files).parent


@pytest.mark.row("C02", "T15")
def test_each_level_of_each_skill_is_counted(library: Path) -> None:
    count = EstimateCounter().count

    value = json.loads(run("cost", "skills", "--json").stdout)

    assert [skill["id"] for skill in value["skills"]] == ["long", "short"]
    long, short = value["skills"]
    assert long["instructions"] == count((library / "long/SKILL.md").read_text("utf-8"))
    assert (long["files"], short["files"]) == (30, 0), "a binary file costs no token"
    assert short["catalog"] == count("- short: Use when short is due.\n")
    assert value["inlined"] == long["instructions"] + short["instructions"]
    catalog = Satchel(library, sinks=()).catalog
    for shape, tokens in value["catalog"].items():
        assert tokens == render(catalog, format=shape, budget_tokens=None).tokens


def test_a_person_reads_a_table() -> None:
    lines = run("cost", "skills", width=200).stdout.splitlines()

    assert lines[0].split() == ["SKILL", "CATALOG", "INSTRUCTIONS", "FILES"]
    assert [line.split()[0] for line in lines[1:3]] == ["long", "short"]
    assert lines[3].startswith("Catalog of all, by format: lean ")
    assert lines[4].startswith("All instructions in every prompt: ")
    assert lines[5] == "Tokens are counted by estimate (UTF-8 bytes / 4)."


@pytest.mark.parametrize("shape", ["lean", "json"])
def test_a_catalog_over_the_bar_fails(shape: str) -> None:
    cost = json.loads(run("cost", "skills", "--json").stdout)["catalog"][shape]
    gate = ("cost", "skills", "--format", shape, "--max-tokens")

    assert run(*gate, str(cost)).exit_code == 0
    over = run(*gate, str(cost - 1))

    assert over.exit_code == 1
    assert over.stderr.startswith(f"error: the catalog has {cost:,} tokens")
    assert "SKILL" in over.stdout
    assert run(*gate, "0").exit_code == 2


def test_a_counter_of_the_user_counts_all_of_it(here: Path) -> None:
    """Such as a tokenizer: here, words."""
    module = "def count(text):\n    return len(text.split())\n"
    (here / "words_here.py").write_text(module)
    own = ("--counter", "words_here:count")

    value = json.loads(run("cost", "skills", "--json", *own).stdout)

    assert value["counted_by"] == "words_here:count"
    assert [one["catalog"] for one in value["skills"]] == [7, 7]
    catalog = Satchel(here / "skills", sinks=()).catalog
    text = render(catalog, format="lean", budget_tokens=None).text
    assert value["catalog"]["lean"] == len(text.split())
    printed = run("cost", "skills", *own).stdout
    assert printed.endswith("Tokens are counted by words_here:count.\n")


@pytest.mark.parametrize(
    "counter", ["no_such_module:count", "json:nothing", "json:loads", "builtins:list"]
)
def test_a_counter_that_cannot_count_is_refused(counter: str) -> None:
    refused = run("cost", "skills", "--counter", counter)

    assert refused.exit_code == 2
    assert f"{counter!r} cannot count" in refused.stderr
