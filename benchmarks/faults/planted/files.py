"""Files that a text names and nobody finds, and scripts that do not run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.faults.planted._make import in_body, in_files

if TYPE_CHECKING:
    from benchmarks.faults.fault import Fault

_GUIDE: Final = "# Guide\n\nRead the fields from top to bottom.\n"
_TOOL: Final = '"""Fill in a form."""\n\nprint("done")\n'
_K: Final = "files"
_S: Final = "scripts"


def _body(text: str) -> str:
    return f"# Fill in a form\n\n{text}\n"


FILE_FAULTS: Final[tuple[Fault, ...]] = (
    in_body(
        _K,
        "a link to a reference that was renamed",
        _body("Read [the guide](references/guide.md) first."),
        _body("Read [the guide](references/form-guide.md) first."),
        **{"references__form-guide.md": _GUIDE},
    ),
    in_body(
        _K,
        "a link that counts from the wrong folder",
        _body("Read [the guide](../references/guide.md) first."),
        _body("Read [the guide](references/guide.md) first."),
        **{"references__guide.md": _GUIDE},
    ),
    in_body(
        _K,
        "a file in code spans that is not there",
        _body(
            "Read `references/fields.md` before you begin, then see the guide,"
            " `references/guide.md`."
        ),
        _body("Read `references/guide.md` before you begin."),
        **{"references__guide.md": _GUIDE},
    ),
    in_files(
        _K,
        "a command runs a script that was never added",
        {"SKILL.md": _body("Run:\n\n```bash\npython scripts/fill.py form.pdf\n```")},
        {
            "SKILL.md": _body("Run:\n\n```bash\npython scripts/fill.py form.pdf\n```"),
            "scripts/fill.py": _TOOL,
        },
    ),
    in_files(
        _K,
        "a command runs a script with a dot in front that is not there",
        {"SKILL.md": _body("Run:\n\n```sh\n./scripts/fill.sh form.pdf\n```")},
        {
            "SKILL.md": _body("Run:\n\n```sh\n./scripts/fill.sh form.pdf\n```"),
            "scripts/fill.sh": "#!/bin/sh\necho done\n",
        },
    ),
    in_files(
        _K,
        "a script has another ending than the text says",
        {
            "SKILL.md": _body("Run `scripts/fill.py` on the form."),
            "scripts/fill.mjs": "console.log('done');\n",
        },
        {
            "SKILL.md": _body("Run `scripts/fill.mjs` on the form."),
            "scripts/fill.mjs": "console.log('done');\n",
        },
    ),
    in_files(
        _K,
        "upper case in the text, lower case on disk",
        {
            "SKILL.md": _body("Read [the guide](references/GUIDE.md)."),
            "references/guide.md": _GUIDE,
        },
        {
            "SKILL.md": _body("Read [the guide](references/guide.md)."),
            "references/guide.md": _GUIDE,
        },
    ),
    in_files(
        _K,
        "an image that is not there",
        {"SKILL.md": _body("![A form](assets/form.png)")},
        {
            "SKILL.md": _body("![A form](assets/form.png)"),
            "assets/form.png": b"\x89PNG\r\n\x1a\n",
        },
    ),
    in_files(
        _K,
        "a definition of a link that leads nowhere",
        {"SKILL.md": _body("Read [the guide].\n\n[the guide]: references/guide.md")},
        {
            "SKILL.md": _body("Read [the guide].\n\n[the guide]: references/guide.md"),
            "references/guide.md": _GUIDE,
        },
    ),
    in_files(
        _K,
        "a link in HTML that leads nowhere",
        {"SKILL.md": _body('Read <a href="references/guide.md">the guide</a>.')},
        {
            "SKILL.md": _body('Read <a href="references/guide.md">the guide</a>.'),
            "references/guide.md": _GUIDE,
        },
    ),
    in_files(
        _K,
        "a reference links to one that is not there",
        {
            "SKILL.md": _body("Read [the guide](references/guide.md)."),
            "references/guide.md": "# Guide\n\nSee [fields](fields.md).\n",
        },
        {
            "SKILL.md": _body("Read [the guide](references/guide.md)."),
            "references/guide.md": "# Guide\n\nSee [fields](fields.md).\n",
            "references/fields.md": "# Fields\n\nText, box, list.\n",
        },
    ),
    in_body(
        _K,
        "a link to a heading that was renamed",
        _body("See [below](#how-to-fill).\n\n## Filling in\n\nFill in."),
        _body("See [below](#filling-in).\n\n## Filling in\n\nFill in."),
    ),
    in_body(
        _K,
        "a link to a heading of a reference that has none such",
        _body("See [boxes](references/guide.md#boxes)."),
        _body("See [boxes](references/guide.md#tick-boxes)."),
        **{"references__guide.md": "# Guide\n\n## Tick boxes\n\nTick them.\n"},
    ),
    in_body(
        _K,
        "a path with backslashes",
        _body(r"Read `references\guide.md` first."),
        _body("Read `references/guide.md` first."),
        **{"references__guide.md": _GUIDE},
    ),
    in_body(
        _K,
        "a link to a file of the writer's machine",
        _body("Read [the guide](file:///opt/forms/guide.md)."),
        _body("Read [the guide](references/guide.md)."),
        **{"references__guide.md": _GUIDE},
    ),
    in_body(
        _K,
        "a link by a label that is not defined",
        _body("Read [the guide][form guide] first."),
        _body(
            "Read [the guide][form guide] first.\n\n[form guide]: https://example.com/"
        ),
    ),
    in_files(
        _K,
        "a table of files has one that is not there",
        {
            "SKILL.md": _body(
                "| file | when |\n|---|---|\n| `references/a.md` | text |\n"
                "| `references/b.md` | boxes |"
            ),
            "references/a.md": _GUIDE,
        },
        {
            "SKILL.md": _body(
                "| file | when |\n|---|---|\n| `references/a.md` | text |\n"
                "| `references/b.md` | boxes |"
            ),
            "references/a.md": _GUIDE,
            "references/b.md": _GUIDE,
        },
    ),
    in_files(
        _K,
        "a template in assets that is not there",
        {"SKILL.md": _body("Begin with `assets/template.json`.")},
        {
            "SKILL.md": _body("Begin with `assets/template.json`."),
            "assets/template.json": "{}\n",
        },
    ),
    in_files(
        _K,
        "a script of another folder than the text says",
        {
            "SKILL.md": _body("Run `python scripts/tools/fill.py`."),
            "scripts/fill.py": _TOOL,
        },
        {
            "SKILL.md": _body("Run `python scripts/tools/fill.py`."),
            "scripts/tools/fill.py": _TOOL,
        },
    ),
    in_files(
        _K,
        "a link to a sibling skill that does not exist",
        {"SKILL.md": _body("Then see [merge](../merge-forms/SKILL.md).")},
        {"SKILL.md": _body("Then see [merge](https://example.com/merge-forms).")},
    ),
    in_files(
        _K,
        "two links, one with a slip of the keyboard",
        {
            "SKILL.md": _body("[One](references/one.md), [two](refrences/two.md)."),
            "references/one.md": _GUIDE,
            "references/two.md": _GUIDE,
        },
        {
            "SKILL.md": _body("[One](references/one.md), [two](references/two.md)."),
            "references/one.md": _GUIDE,
            "references/two.md": _GUIDE,
        },
    ),
    in_files(
        _K,
        "a script that a script starts is not there",
        {
            "SKILL.md": _body(
                "Run `bash scripts/all.sh`, which calls `scripts/check.py`."
            ),
            "scripts/all.sh": "#!/bin/sh\npython scripts/check.py\n",
        },
        {
            "SKILL.md": _body(
                "Run `bash scripts/all.sh`, which calls `scripts/check.py`."
            ),
            "scripts/all.sh": "#!/bin/sh\npython scripts/check.py\n",
            "scripts/check.py": _TOOL,
        },
    ),
)

_RUN: Final = "# Fill in a form\n\nRun `scripts/{}`.\n"


def _script(about: str, name: str, bad: str | bytes, good: str | bytes) -> Fault:
    text = _RUN.format(name)
    path = f"scripts/{name}"
    return in_files(
        _S, about, {"SKILL.md": text, path: bad}, {"SKILL.md": text, path: good}
    )


SCRIPT_FAULTS: Final[tuple[Fault, ...]] = (
    _script(
        "Python with a bracket that stays open",
        "fill.py",
        "print(sorted([1, 2)\n",
        "print(sorted([1, 2]))\n",
    ),
    _script("Python of version 2", "fill.py", 'print "done"\n', 'print("done")\n'),
    _script(
        "Python with tabs and blanks mixed",
        "fill.py",
        "if True:\n\tprint(1)\n        print(2)\n",
        "if True:\n    print(1)\n    print(2)\n",
    ),
    _script(
        "Python whose block is empty",
        "fill.py",
        "def fill():\n\nfill()\n",
        "def fill():\n    pass\n\nfill()\n",
    ),
    _script(
        "Python with quotes of a word processor",
        "fill.py",
        "print(\u201cdone\u201d)\n",
        'print("done \u201cyes\u201d")\n',
    ),
    _script(
        "Python behind a Markdown fence",
        "fill.py",
        "```python\nprint(1)\n```\n",
        "print(1)\n",
    ),
    _script(
        "a shell script without fi",
        "fill.sh",
        "#!/bin/sh\nif true; then\n  echo done\n",
        "#!/bin/sh\nif true; then\n  echo done\nfi\n",
    ),
    _script(
        "a shell script with a quote that stays open",
        "fill.sh",
        '#!/bin/sh\necho "done\n',
        '#!/bin/sh\necho "done"\n',
    ),
    _script(
        "a shell script with line ends of Windows",
        "fill.sh",
        b"#!/bin/sh\r\necho done\r\n",
        b"#!/bin/sh\necho done\n",
    ),
    _script(
        "JSON with a comma at the end",
        "fields.json",
        '{"fields": ["a", "b",]}\n',
        '{"fields": ["a", "b"]}\n',
    ),
    _script(
        "JSON with single quotes", "fields.json", "{'fields': []}\n", '{"fields": []}\n'
    ),
    _script(
        "a key of a cloud in a script",
        "fill.sh",
        "#!/bin/sh\nexport AWS_ACCESS_KEY_ID=AKIAZ7QK3VJH2MWP4TXN\n",
        '#!/bin/sh\nexport AWS_ACCESS_KEY_ID="$1"\n',
    ),
)
