"""Write the rules: what a client's own lists say of it, and how well they agree.

The kinds of rules are code, in ``satchel_lab.clients._listing_rules``. What is read off
here is what changes from one version to the next: the version, the client's own skills,
and how many skills of other libraries the rule has right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import satchel_lab.clients
from satchel_lab.clients import listing_rules
from satchel_lab.clients._listing_rules import columns_of
from tools.listings.clients import claude_own, codex_own
from tools.listings.libraries import named
from tools.listings.recording import Agreed, agree, record, today, write_recorded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tools.listings.clients import Lister
    from tools.listings.libraries import Library

RULES: Final = Path(satchel_lab.clients.__file__).with_name("listings.json")
_SMALL: Final = "short-5-1"
_LARGE: Final = "long-100-1"


def read_rules() -> dict[str, Any]:
    """Return the rules' file."""
    rules: dict[str, Any] = json.loads(RULES.read_text("utf-8"))
    return rules


def write_rules(rules: Mapping[str, Any]) -> None:
    """Write the rules' file, a line for each client."""
    entries = [
        f"  {json.dumps(key)}: {json.dumps(entry, ensure_ascii=False)}"
        for key, entry in sorted(rules["clients"].items())
    ]
    head = f'{{\n "schema_version": {rules["schema_version"]},\n "clients": {{\n'
    RULES.write_text(head + ",\n".join(entries) + "\n }\n}\n", "utf-8")
    listing_rules.cache_clear()


def measure(client: Lister) -> dict[str, Any]:
    """Record what a client shows, and write it."""
    entry = record(client)
    write_recorded({client.key: entry})
    return entry


def fit(client: Lister) -> dict[str, Any]:
    """Read off what changes with a version; write it into the rule and return that."""
    version = client.prepare()
    rules = read_rules()
    entry = rules["clients"][client.key]
    # What was agreed is of the rule as it was.
    entry.update(version=version, checked=today(), agreed={})
    entry["numbers"].update(_own(client))
    write_rules(rules)
    return dict(entry)


def _own(client: Lister) -> dict[str, Any]:
    """Return the numbers that come from the client's own skills."""
    if client.key not in ("claude-code", "codex"):
        return {}
    texts = {
        (library.name, seen.window): seen.text
        for library, seen in client.look([named(_SMALL), named(_LARGE)])
    }
    if client.key == "codex":
        own = codex_own(texts[_SMALL, client.windows[-1]])
        return {"own_skills": [[name, len(text)] for name, text in own]}
    text = claude_own(texts[_LARGE, client.windows[0]])
    return {"own_columns": columns_of(text) + text.count("\n- ")}


def agree_and_keep(client: Lister, libraries: Iterable[Library]) -> list[str]:
    """Compare a rule with what is shown of other libraries; keep the counts."""
    agreed = Agreed()
    said: list[str] = []
    for library, seen, judged in agree(client, [*libraries]):
        agreed.add(seen.window, judged)
        if judged.wrong:
            names = ", ".join(name for name, _, _ in judged.wrong[:3])
            counts = f"{judged.right} of {judged.skills} right"
            said.append(f"  {library.name} at {seen.window:,}: {counts}; not {names}")
    rules = read_rules()
    rules["clients"][client.key]["agreed"] = {
        str(window): [agreed.right[window], count]
        for window, count in agreed.skills.items()
    }
    write_rules(rules)
    for window, count in agreed.skills.items():
        right = agreed.right[window]
        said.append(f"{client.key} at {window:,}: {right:,} of {count:,} right")
    return [*said, f"{agreed.out_of_order} libraries in another order"]
