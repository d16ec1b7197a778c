"""A catalog from the index equals that of a process without it, whatever happened."""

import os
import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from satchel import Options, Satchel
from satchel.index import _stored_packs
from satchel.model import Limits
from satchel.sources import LocalSource
from tests.fakes import pack

pytestmark = pytest.mark.slow

# More than the 4 to 10 ms in which Linux gives two writes one time. What the program
# takes is more, so that a test would have to wait for seconds.
RACY_NS = 20_000_000
PLACES = ("a", "b", "group/c", "group/d", "group/deep/e", ".claude/skills/f", "A")
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"options": {"limits": Limits(pack_files=2)}},
    {"options": {"limits": Limits(scan_depth=2)}},
    {"options": {"on_conflict": "precedence"}},
    {"options": {"prefix": "x-"}},
    {"options": {"prefix": "{parent}"}},
    {"options": {"allow_empty_description": True}},
    {"profile": "strict"},
    {"profile": "spec"},
    {"disabled": ("on?",)},  # a plain name that nothing has would be an error
)
real_time_ns = time.time_ns


def contents(skills: Satchel) -> dict[str, object]:
    """Return all that a catalog says, also what takes no part in its equality."""
    catalog = skills.registry.latest
    packs = [
        *catalog.entries,
        *(excluded.descriptor for excluded in catalog.excluded),
        *(owner for conflict in catalog.conflicts for owner in conflict.owners),
    ]
    return {
        "entries": catalog.entries,
        "excluded": catalog.excluded,
        "conflicts": catalog.conflicts,
        "findings": catalog.findings,
        "all findings": skills.findings,
        "sources": catalog.sources,
        "files": [(entry.files, entry.odd_fields) for entry in packs],
        "bodies": [skills.load(entry.id).body for entry in catalog.entries],
        "prompt": skills.prompt().text,
        "found": skills.find(["body two", "one 3"], 9),
    }


class EditedLibrary(RuleBasedStateMachine):
    """A folder that is edited in every way, and opened again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp())
        self.root = self.top / "library"
        self.root.mkdir()
        self.index = self.top / "cache" / "index.db"
        self.clock_ns = 0

    def teardown(self) -> None:
        shutil.rmtree(self.top)

    @initialize()
    def start(self) -> None:
        for place in ("a", "group/c"):
            self.write(place, "one" if place == "a" else "two", 0)

    @rule(
        place=st.sampled_from(PLACES),
        name=st.sampled_from(["one", "two", "three", "Bad Name", ""]),
        body=st.integers(0, 3),
    )
    def write(self, place: str, name: str, body: int) -> None:
        folder = self.root / place
        if folder.is_symlink() or any(p.is_symlink() for p in folder.parents):
            return
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "SKILL.md"
        if file.is_symlink():
            file.unlink()
        hidden = "\u200b" if body == 3 else ""  # a finding comes and goes
        file.write_text(pack(name, body=f"Body {body}{hidden}\n"))

    @rule(place=st.sampled_from(PLACES), body=st.integers(0, 9), back=st.booleans())
    def edit_in_place(self, place: str, body: int, back: bool) -> None:
        """Change one byte; the size stays, and maybe the time."""
        file = self.root / place / "SKILL.md"
        if file.is_file():
            before = file.stat()
            with file.open("r+b") as out:
                out.seek(-2, os.SEEK_END)
                out.write(b"%d" % body)
            if back:
                os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(place=st.sampled_from(PLACES), body=st.integers(0, 9))
    def replace(self, place: str, body: int) -> None:
        file = self.root / place / "SKILL.md"
        if file.is_file():
            new = file.with_name("new")
            new.write_text(pack("one", body=f"Body {body}\n"))
            os.replace(new, file)  # noqa: PTH105

    @rule(place=st.sampled_from(PLACES))
    def remove(self, place: str) -> None:
        folder = self.root / place
        if folder.is_symlink():
            folder.unlink()
        elif folder.is_dir():
            shutil.rmtree(folder)

    @rule(place=st.sampled_from(PLACES))
    def remove_skill_md(self, place: str) -> None:
        (self.root / place / "SKILL.md").unlink(missing_ok=True)

    @rule(first=st.sampled_from(PLACES), second=st.sampled_from(PLACES))
    def rename(self, first: str, second: str) -> None:
        old, new = self.root / first, self.root / second
        if old.is_dir() and not new.exists() and not new.is_symlink():
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)

    @rule(
        place=st.sampled_from(PLACES),
        name=st.sampled_from(
            [
                *("x.md", "refs/y.md", "refs/.DS_Store", "empty/", "deep/er/z.txt"),
                *(".env", "skills/in/SKILL.md", "skills/in/x.md", "refs/SKILL.md"),
                *(".claude/skills/i/SKILL.md", ".hide/h/SKILL.md", ".hide/x.md"),
            ]
        ),
        text=st.sampled_from(["1", "2", "longer"]),
    )
    def add_file(self, place: str, name: str, text: str) -> None:
        folder = self.root / place
        if folder.is_dir():
            file = folder / name
            (file if name.endswith("/") else file.parent).mkdir(
                parents=True, exist_ok=True
            )
            if not name.endswith("/"):
                file.write_text(text)

    @rule(
        where=st.sampled_from(["link", "group/link", "a/link", "group/c/SKILL.md"]),
        to=st.sampled_from(
            [
                *("group", "a", "b/x.md", "nothing", "..", "../outside"),
                *("a/SKILL.md", "a/x.md", "../outside/SKILL.md"),
            ]
        ),
    )
    def link(self, where: str, to: str) -> None:
        link = self.root / where
        outside = self.top / "outside"
        outside.mkdir(exist_ok=True)
        (outside / "SKILL.md").write_text(pack("outside"))
        if link.parent.is_dir() and (link.is_symlink() or not link.is_dir()):
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(self.root / to, link.parent))

    @rule(name=st.sampled_from(["skill.md", "README.md", "SKILL.md"]))
    def file_at_the_top(self, name: str) -> None:
        (self.root / "group").mkdir(exist_ok=True)
        (self.root / "group" / name).write_text(pack("top"))

    @rule()
    def wait(self) -> None:
        time.sleep(2.5 * RACY_NS / 1e9)

    @rule(seconds=st.sampled_from([-3600, 0, 3600]))
    def set_clock(self, seconds: int) -> None:
        self.clock_ns = seconds * 1_000_000_000

    @rule(seed=st.integers(), count=st.sampled_from([1, 20]))
    def damage(self, seed: int, count: int) -> None:
        if self.index.is_file() and self.index.stat().st_size:
            data = bytearray(self.index.read_bytes())
            rng = random.Random(seed)  # noqa: S311
            for _ in range(count):
                data[rng.randrange(len(data))] = rng.randrange(256)
            self.index.write_bytes(data)

    @rule()
    def delete_index(self) -> None:
        self.index.unlink(missing_ok=True)

    @rule(chosen=st.sampled_from(SETTINGS), times=st.integers(1, 2))
    def open(self, chosen: dict[str, Any], times: int) -> None:
        for _ in range(times):
            with (
                patch.object(_stored_packs, "RACY_NS", RACY_NS),
                patch.object(time, "time_ns", self.time_ns),
            ):
                opened = self.opened(chosen, index=self.index)
            fresh = self.opened(chosen, index="none")
            try:
                assert contents(opened) == contents(fresh)
            finally:
                opened.close()
                fresh.close()

    @invariant()
    def equal(self) -> None:
        self.open({}, 1)

    def time_ns(self) -> int:
        return real_time_ns() + self.clock_ns

    def opened(self, chosen: dict[str, Any], **more: Any) -> Satchel:  # noqa: ANN401
        given = dict(chosen)
        options = Options(**given.pop("options", {}), **more)
        source = LocalSource(
            self.root,
            label="library",
            limits=options.limits or Limits(),
        )
        return Satchel(source, sinks=(), options=options, **given)


EditedLibrary.TestCase.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None
)


@pytest.mark.property
@pytest.mark.filterwarnings("ignore")
class TestEditedLibrary(EditedLibrary.TestCase):  # type: ignore[misc, valid-type]
    """The state machine as a test."""
