"""The package page has no dead link, and nobody is told to install a stranger's."""

import re
import tomllib
from pathlib import Path

import pytest

from hatch_build import addresses, package_page
from satchel import published
from tools.picture import PICTURE, draw

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("", "See tasks, [them](https://a.example) and below.\n"),
        (
            "https://code.example/us/it",
            (
                "See [tasks](https://code.example/us/it/blob/main/docs/index.md), "
                "[them](https://a.example) and below.\n"
            ),
        ),
    ],
)
def test_links_lead_to_the_repository_or_are_text(
    repository: str, expected: str
) -> None:
    readme = (
        '<picture>\n<img src="docs/a.svg">\n</picture>\n\n![a](docs/b.svg)\n'
        "See [tasks][i], [them](https://a.example) and below.\n"
        "[i]: docs/index.md\n"
    )
    assert package_page(readme, repository) == expected


def test_the_package_page_of_this_readme_has_no_dead_link() -> None:
    page = package_page(README, published.REPOSITORY)
    targets = re.findall(r"\]\(([^)]+)\)", page)
    assert [each for each in targets if not re.match("https?:|#", each)] == []
    assert "<picture>" not in page


def test_addresses_are_listed_once_there_is_a_repository() -> None:
    assert addresses("") == {}
    listed = addresses("https://code.example/us/it")
    assert {"Repository", "Documentation", "Changelog", "Issues"} == set(listed)


def test_the_wheel_says_that_it_is_typed() -> None:
    assert (ROOT / "src" / "satchel" / "py.typed").is_file()


def test_the_page_on_extras_lists_each_with_what_it_installs() -> None:
    page = (ROOT / "docs" / "reference" / "extras.md").read_text("utf-8")
    listed = {
        row[0].strip(" `"): {
            re.sub(r"[^a-z0-9]", "-", each.strip().lower())
            for each in row[2].split(",")
        }
        for line in page.splitlines()
        if line.startswith("| `")
        for row in [line.strip("|").split("|")]
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {
        extra: {re.split(r"[\[><=]", each)[0].lower() for each in packages}
        for extra, packages in project["optional-dependencies"].items()
    }
    assert listed == declared


def test_the_picture_is_drawn_from_what_a_session_gives() -> None:
    """If this fails, run ``python -m tools.picture`` and look at the picture."""
    assert draw() == PICTURE.read_text("utf-8")
