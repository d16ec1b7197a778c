"""Frontmatter as editors, chats and word processors leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.faults.fault import BODY, DESCRIPTION
from benchmarks.faults.planted._make import FOLDER, HEAD, described, in_head, in_text

if TYPE_CHECKING:
    from benchmarks.faults.fault import Fault

_K: Final = "frontmatter"
_GOOD: Final = f"---\n{HEAD}---\n{BODY}"

FRONTMATTER_FAULTS: Final[tuple[Fault, ...]] = (
    in_text(
        _K,
        "keys in bold, their text on the next line",
        f"---\n**name:**\n{FOLDER}\n**description:**\n{DESCRIPTION}\n---\n{BODY}",
        _GOOD,
    ),
    in_text(
        _K,
        "keys in bold",
        f"---\n**name:** {FOLDER}\n**description:** {DESCRIPTION}\n---\n{BODY}",
        _GOOD,
    ),
    in_text(_K, "two hyphens for the closing fence", f"---\n{HEAD}--\n{BODY}", _GOOD),
    in_text(
        _K, "four hyphens for the closing fence", f"---\n{HEAD}----\n{BODY}", _GOOD
    ),
    in_text(_K, "no closing fence", f"---\n{HEAD}\n{BODY}", _GOOD),
    in_text(
        _K,
        "line ends of an old Mac",
        _GOOD.replace("\n", "\r"),
        _GOOD.replace("\n", "\r\n"),
    ),
    in_text(_K, "UTF-16", _GOOD.encode("utf-16"), _GOOD),
    in_text(
        _K,
        "Latin-1",
        _GOOD.replace("form,", "caf\xe9,").encode("latin-1"),
        _GOOD.replace("form,", "caf\xe9,"),
    ),
    in_text(
        _K,
        "two blanks before every key",
        f"---\n  name: {FOLDER}\n  description: {DESCRIPTION}\n---\n{BODY}",
        _GOOD,
    ),
    in_head(
        _K,
        "a tab behind a colon",
        f"name: {FOLDER}\ndescription:\t{DESCRIPTION}",
        HEAD.rstrip(),
    ),
    described(_K, "a tag of YAML before the description", f"!!str {DESCRIPTION}"),
    described(
        _K,
        "a line separator of old in the description",
        DESCRIPTION.replace(" and ", "\x85and "),
        DESCRIPTION,
    ),
    in_head(
        _K,
        "the name is a number",
        f"name: 1.10\ndescription: {DESCRIPTION}",
        HEAD.rstrip(),
    ),
    in_head(
        _K, "the name is null", f"name: null\ndescription: {DESCRIPTION}", HEAD.rstrip()
    ),
    described(
        _K,
        "a colon and a blank without quotes",
        "Fill in forms. Use when: the user asks.",
        '"Fill in forms. Use when: the user asks."',
    ),
    described(
        _K,
        "a quote that stays open",
        '"Fill in forms. Use when asked.',
        '"Fill in forms. Use when asked."',
    ),
    described(
        _K,
        "it begins with a backtick",
        "`fill` forms. Use when asked.",
        '"`fill` forms. Use when asked."',
    ),
    described(
        _K,
        "it begins with an at sign",
        "@form fields. Use when asked.",
        '"@form fields. Use when asked."',
    ),
    described(
        _K,
        "a hash cuts it",
        "Fill in form #3 and #4. Use when asked.",
        '"Fill in form #3 and #4. Use when asked."',
    ),
    described(
        _K,
        "it begins with a bracket",
        "[PDF] Fill in forms. Use when asked.",
        '"[PDF] Fill in forms. Use when asked."',
    ),
    described(
        _K,
        "an asterisk at the start",
        "*Fill* in forms. Use when asked.",
        '"*Fill* in forms. Use when asked."',
    ),
    described(
        _K,
        "a block whose lines are not indented",
        f">\n{DESCRIPTION}",
        f">\n  {DESCRIPTION}",
    ),
    in_head(_K, "a key twice", f"{HEAD}description: Fill in forms.", HEAD.rstrip()),
    in_head(
        _K,
        "a tab for indentation",
        f"{HEAD}metadata:\n\tversion: '1'",
        f"{HEAD}metadata:\n  version: '1'",
    ),
    in_head(
        _K,
        "no blank behind a colon",
        f"name:{FOLDER}\ndescription: {DESCRIPTION}",
        HEAD.rstrip(),
    ),
    in_head(
        _K,
        "a wide colon",
        f"name: {FOLDER}\ndescription\uff1a {DESCRIPTION}",
        HEAD.rstrip(),
    ),
    in_head(
        _K,
        "quotes of a word processor around the name",
        f"name: \u201c{FOLDER}\u201d\ndescription: {DESCRIPTION}",
        HEAD.rstrip(),
    ),
    in_head(
        _K,
        "a no-break space behind a colon",
        f"name:\u00a0{FOLDER}\ndescription: {DESCRIPTION}",
        HEAD.rstrip(),
    ),
    in_text(
        _K,
        "the frontmatter in a code block",
        f"```yaml\n---\n{HEAD}---\n```\n\n{BODY}",
        _GOOD,
    ),
    in_text(_K, "a heading before the frontmatter", f"# Forms\n\n{_GOOD}", _GOOD),
    in_text(
        _K,
        "TOML for YAML",
        f'+++\nname = "{FOLDER}"\ndescription = "{DESCRIPTION}"\n+++\n{BODY}',
        _GOOD,
    ),
    in_text(_K, "a byte order mark", f"\ufeff{_GOOD}", _GOOD),
    in_text(_K, "no frontmatter at all", BODY, _GOOD),
    in_text(_K, "nothing behind the frontmatter", f"---\n{HEAD}---\n", _GOOD),
)
