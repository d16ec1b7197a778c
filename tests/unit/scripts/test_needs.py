"""What scripts need is known before they run, and the line installs it."""

import sys

import pytest

from satchel_scripts._needs import Needs, missing, needs_of

pytestmark = pytest.mark.row("N08")

INLINE = """\
# /// script
# requires-python = ">=3.11"
# dependencies = ["pypdf>=4", "rich"]
# ///
import pypdf
"""


@pytest.mark.parametrize(
    ("files", "needs"),
    [
        ({"scripts/a.py": "import os, json\nimport pypdf\n"}, Needs((), ("pypdf",))),
        ({"scripts/a.py": "from PIL.Image import open\n"}, Needs((), ("PIL",))),
        ({"scripts/a.py": "from google import genai\nimport google.auth.transport.x\n"},
         Needs((), ("google.auth", "google.genai"))),
        ({"scripts/a.py": "from google.cloud import storage\n"
                          "from azure.storage.blob import Client\n"},
         Needs((), ("azure.storage.blob", "google.cloud.storage"))),
        ({"scripts/a.py": INLINE}, Needs(("pypdf>=4", "rich"))),
        (
            {"scripts/a.py": "import b\nimport office.pack\n", "scripts/b.py": "",
             "scripts/office/pack.py": ""},
            Needs(),
        ),
        ({"scripts/a.py": "from . import x\n"}, Needs()),
        ({"scripts/a.py": "try:\n    import fast\nexcept ImportError: ...\n"}, Needs()),
        ({"scripts/a.py": "def f():\n    import late\n"}, Needs()),
        ({"scripts/a.py": "if True:\n    import now\n"}, Needs((), ("now",))),
        ({"scripts/a.py": "import (\n"}, Needs()),
        ({"scripts/a.py": "# /// script\n# not toml =\n# ///\nimport x1\n"},
         Needs((), ("x1",))),
        (
            {"requirements.txt": "# all\npypdf>=4  # forms\n-r other.txt\n\n",
             "scripts/a.py": ""},
            Needs(("pypdf>=4",)),
        ),
        ({"requirements.txt": "pypdf", "references/a.md": ""}, Needs()),
        ({"scripts/run.sh": "import nothing"}, Needs()),
    ],
)  # fmt: skip
def test_needs_are_read(files: dict[str, str], needs: Needs) -> None:
    assert needs_of(files) == needs


@pytest.mark.parametrize(
    ("needs", "lacking"),
    [
        (Needs(("pytest",), ("pytest",)), ()),
        (Needs(("pytest>=9999",)), ("pytest>=9999",)),
        (Needs(("no-such-thing-here[x]>=1",)), ("no-such-thing-here[x]>=1",)),
        (Needs((), ("no_such_thing",)), ("no-such-thing",)),
        (Needs((), ("fitz_no", "docx")), ("fitz-no", "python-docx")),
        (Needs((), ("google.auth", "google.oauth2")), ("google-auth",)),
        (Needs((), ("azure.storage.blob", "absl")), ("absl-py", "azure-storage-blob")),
        (Needs(("never; python_version < '3'",)), ()),
        (Needs(("never; extra == 'x'", "never; nothing == 'x'")), ()),
        (Needs(("lxno @ https://a.example/x.whl",)), ("lxno",)),
        (Needs(("not a requirement !!",)), ()),
        (Needs(), ()),
    ],
)
def test_what_the_interpreter_lacks(needs: Needs, lacking: tuple[str, ...]) -> None:
    found = missing(needs)

    assert found.requirements == lacking


def test_the_line_installs_them() -> None:
    found = missing(Needs((), ("no_such_thing", "docx")))

    assert found.install == (
        f"{sys.executable} -m pip install no-such-thing python-docx"
    )


@pytest.mark.parametrize(
    "text",
    [
        "# /// script\n" * 50_000,
        "# /// script\n# dependencies = " + "[" * 50_000 + "\n# ///\n",
        "import " + ", ".join(f"no_such_{n}" for n in range(20_000)),
        "(" * 50_000,
        "x = " + "-" * 50_000 + "1",
    ],
    ids=["begun often", "deep", "many imports", "parentheses", "signs"],
)
def test_a_hostile_script_costs_no_time_and_raises_nothing(text: str) -> None:
    missing(needs_of({"scripts/a.py": text}))


@pytest.mark.parametrize("line", ["pytest>=9999", "# no name", "pytest; extra == 'x'"])
def test_without_packaging_only_names_are_looked_at(
    monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)

    assert missing(Needs((line,))).requirements == ()
    assert missing(Needs(("no-such-thing>=1",))).requirements == ("no-such-thing",)
