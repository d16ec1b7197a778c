"""What is right: the name and the description that a pack really has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from satchel.clients import PackReader
from satchel.skill_md._entries import fold
from tools.loaders.judging import Expected, names_of

if TYPE_CHECKING:
    from satchel.clients import Candidate


def expected_of(candidate: Candidate) -> Expected:
    """Return what Satchel reads; where it refuses a reference in YAML, its lines."""
    reading = PackReader(candidate)
    manifest = reading.parsed.manifest
    if manifest is not None:
        declared = reading.source("name") or manifest.name
        names = names_of(declared, candidate.folder) | names_of(manifest.name, "")
        return Expected(names, manifest.description)
    said = {entry.key: fold(entry.value, entry.more) for entry in reading.entries}
    names = names_of(said.get("name", ""), candidate.folder)
    if reading.problem in {"yaml-anchor", "yaml-alias", "yaml-tag"}:
        return Expected(names, said.get("description"))
    return Expected(names, None)
