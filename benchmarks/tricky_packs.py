"""Write the packs of `benchmarks.tricky`: ``python -m benchmarks.tricky_packs FOLDER``.

One folder a case, with the case's pack inside; ``_target`` is what a link points at.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

BODY: Final = "# Body\nDo it.\n"
# File to frontmatter; the body is `BODY`.
PLAIN: Final = {
    "01-plain/ok-skill": "name: ok-skill\ndescription: A plain skill",
    "02-colon/colon-skill": "name: colon-skill\ndescription: Use when: the user asks",
    "03-block/block-skill": (
        "name: block-skill\ndescription: >-\n  Folded first\n  second line"
    ),
    "06-noname/noname-skill": "description: no name",
    "07-mismatch/dir-name": "name: other-name\ndescription: mismatch",
    "08-underscore/snake_skill": "name: snake_skill\ndescription: snake",
    "09-upper/UpperSkill": "name: UpperSkill\ndescription: upper",
    "10-longdesc/long-skill": f"name: long-skill\ndescription: {'x' * 1500}",
    "11-extra/extra-skill": (
        "name: extra-skill\ndescription: extra\nwhen_to_use: foo\nversion: 1.0"
    ),
    "12-metaint/meta-skill": (
        "name: meta-skill\ndescription: meta\nmetadata:\n  version: 1.0\n  tags: [a, b]"
    ),
    "13-toolslist/tl-skill": (
        "name: tl-skill\ndescription: tl\nallowed-tools:\n  - Read\n  - Bash"
    ),
    "17-nested/group/nested-skill": "name: nested-skill\ndescription: nested",
    "_target/linked-skill": "name: linked-skill\ndescription: linked",
    "19-unicode/r\xe9sum\xe9": "name: r\xe9sum\xe9\ndescription: unicode name",
    "20-nodesc/nodesc-skill": "name: nodesc-skill",
    "21-quotedcolon/qc-skill": (
        'name: qc-skill\ndescription: "quoted: ok"\nmetadata:\n  short: "x"'
    ),
    "22-tab/tab-skill": ("name: tab-skill\ndescription: tab\nmetadata:\n\tauthor: x"),
}
# File to bytes.
ODD: Final = {
    "04-bom/bom-skill/SKILL.md": (
        f"\ufeff---\nname: bom-skill\ndescription: with bom\n---\n{BODY}".encode()
    ),
    "05-crlf/crlf-skill/SKILL.md": (
        b"---\r\nname: crlf-skill\r\ndescription: crlf\r\n---\r\n# Body\r\n"
    ),
    "14-lower/lower-skill/skill.md": (
        f"---\nname: lower-skill\ndescription: lower\n---\n{BODY}".encode()
    ),
    "15-nonl/nonl-skill/SKILL.md": b"---\nname: nonl-skill\ndescription: nonl\n---",
    "16-latin1/latin-skill/SKILL.md": (
        b"---\nname: latin-skill\ndescription: caf\xe9\n---\nbody\n"
    ),
}


def write_cases(folder: Path) -> None:
    """Write all cases into ``folder``.

    Raises:
        FileExistsError: ``folder`` is there already.
    """
    folder.mkdir(parents=True)
    files = {
        f"{pack}/SKILL.md": f"---\n{head}\n---\n{BODY}".encode()
        for pack, head in PLAIN.items()
    }
    for name, data in {**files, **ODD}.items():
        file = folder / name
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
    link = folder / "18-symlink" / "linked-skill"
    link.parent.mkdir()
    link.symlink_to((folder / "_target" / "linked-skill").resolve())


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="must not exist")
    write_cases(parser.parse_args().folder)


if __name__ == "__main__":
    main()
