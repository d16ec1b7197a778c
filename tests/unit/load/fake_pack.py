"""A pack in memory, what was asked of it, and a backend for the tools of a style."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from satchel.errors import LimitExceededError, ReferenceNotFoundError
from satchel.load import PlainBackend, ToolBackend, load
from satchel.model import Catalog, Descriptor, FileReader, FileStat, Origin, bucket_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from satchel.model import Bucket, Hit, Loaded, Request
    from satchel.tools import Run

__all__ = ["SKILL_MD", "FakeBackend", "FakePack"]

SKILL_MD: Final = (
    "---\nname: pdf\ndescription: Use when a PDF is to be read.\n---\n# PDF\n"
)


@dataclass
class FakePack(FileReader):
    """The files of one skill, ``pdf``, as a reader and as a catalog.

    ``asked`` lists every path that was read: an empty one means that the files were
    never touched. A path in ``broken`` raises when it is read.
    """

    files_: dict[str, bytes] = field(
        default_factory=lambda: {"SKILL.md": SKILL_MD.encode()}
    )
    broken: dict[str, Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, skill_md: str | bytes = SKILL_MD, **files: str | bytes) -> FakePack:
        """Return a pack; ``references__a_md`` is the file ``references/a.md``."""
        named = {"SKILL.md": skill_md}
        for name, content in files.items():
            stem, _, suffix = name.replace("__", "/").rpartition("_")
            named[f"{stem}.{suffix}"] = content
        return cls(
            {p: c.encode() if isinstance(c, str) else c for p, c in named.items()}
        )

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        self.asked.append(path)
        if path in self.broken:
            raise self.broken[path]
        if path not in self.files_:
            raise ReferenceNotFoundError(key, path)
        data = self.files_[path]
        if len(data) > limit_bytes:
            raise LimitExceededError(
                "any", limit_bytes, len(data), "bytes", f"/abs/{path}"
            )
        return data

    def files(self, key: str) -> tuple[FileStat, ...]:
        del key
        return tuple(
            FileStat(path, len(data), hashlib.md5(data).hexdigest())  # noqa: S324
            for path, data in sorted(self.files_.items())
        )

    def descriptor(self, **changes: object) -> Descriptor:
        """Return the entry of a catalog that was synced now."""
        paths = [path for path in sorted(self.files_) if path != "SKILL.md"]

        def bucket(name: Bucket) -> tuple[str, ...]:
            return tuple(path for path in paths if bucket_of(path) == name)

        digest = hashlib.sha256(self.files_["SKILL.md"]).hexdigest()
        entry = Descriptor(
            "pdf",
            "Use when a PDF is to be read.",
            references=bucket("references"),
            scripts=bucket("scripts"),
            assets=bucket("assets"),
            others=bucket("other"),
            origins=(Origin("here", "pdf", "/home/me/skills/pdf"),),
            digest=f"sha256:{digest}",
            files=self.files("pdf"),
        )
        return replace(entry, **changes)  # type: ignore[arg-type]

    def catalog(self, **changes: object) -> Catalog:
        """Return the catalog of this one skill."""
        return Catalog((self.descriptor(**changes),), readers={"here": self})


class FakeBackend(ToolBackend):
    """Loads from one catalog; the functions that are given stand in for a session."""

    def __init__(
        self,
        catalog: Catalog,
        loader: Callable[[Request], Loaded] | None = None,
        find: Callable[[str, int], list[Hit]] = lambda _query, _k: [],
        **answers: Callable[..., Any],
    ) -> None:
        self._plain = PlainBackend(
            loader or (lambda request: load(catalog, request)), lambda: catalog
        )
        self._find = find
        self._answers = answers

    @property
    def catalog(self) -> Catalog:
        return self._plain.catalog

    def load_for(self, request: Request, run: Run) -> Loaded:
        return self._plain.load_for(request, run)

    def find(self, query: str, k: int) -> list[Hit]:
        return self._find(query, k)

    def folder(self, loaded: Loaded) -> Any:  # noqa: ANN401 - what a test says
        return self._answer("folder", loaded)

    def unchanged(self, loaded: Loaded) -> Any:  # noqa: ANN401
        return self._answer("unchanged", loaded)

    def notes(self, loaded: Loaded) -> Any:  # noqa: ANN401
        return self._answer("notes", loaded) or ()

    def advice(self, error: object) -> Any:  # noqa: ANN401
        return self._answer("advice", error)

    def _answer(self, name: str, value: object) -> Any:  # noqa: ANN401
        return self._answers[name](value) if name in self._answers else None
