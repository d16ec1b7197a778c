"""Files of a git repository at one commit, by git itself, and never checked out.

A repository is somebody else's: what is fetched is a bare, shallow history of one
commit, and its files are read as objects. No hook, filter, submodule or link of it has
any effect. The user's own settings of git count: credentials, proxies, certificates.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from satchel.errors import NotInstalledError, SourceUnavailableError
from satchel.model import SKILL_FILE
from satchel.text import clean_line
from satchel_install._entries import Upstream
from satchel_store.plugins import is_manifest

_PROTOCOLS: Final = ("https", "ssh", "http", "git", "file")
# Switched off for every call, whatever the user's settings say.
#
# Source: docs/decisions/0034; git's own pages on `protocol.allow` and `fsck`.
_SETTINGS: Final = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.symlinks=false"),
    *("submodule.recurse=false", "gc.auto=0", "maintenance.auto=false"),
    *("http.lowSpeedLimit=1000", "http.lowSpeedTime=30", "protocol.allow=never"),
    *(f"protocol.{one}.allow=always" for one in _PROTOCOLS),
)
_SAFE: Final = tuple(part for one in _SETTINGS for part in ("-c", one))
# What tells git where it is, or makes it talk, is not passed on.
_DROPPED: Final = re.compile(
    r"GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|NAMESPACE|PREFIX"
    r"|ALTERNATE_OBJECT_DIRECTORIES|CEILING_DIRECTORIES|EXEC_PATH|TEMPLATE_DIR"
    r"|EXTERNAL_DIFF|PAGER|EDITOR|TRACE.*|CURL_VERBOSE|CONFIG_PARAMETERS"
    r"|SHALLOW_FILE|QUARANTINE_PATH|ALLOW_PROTOCOL|DEFAULT_.*)"
)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# What git says of a repository that answers, and lacks what is asked for.
_ABSENT: Final = re.compile(r"find remote ref|not our ref")
_SECRET: Final = re.compile(r"(?<=//)[^/@\s]+@")
# Seconds for one fetch, and bytes that it may write.
TIMEOUT_S: Final = 600.0
MAX_BYTES: Final = 2**31
# The packs of the largest public library have 20,000 files.
MAX_FILES: Final = 100_000
MAX_FILE_BYTES: Final = 2**29
_POLL_S: Final = 0.05
# What git calls a regular file; a link is 120000.
_FILE: Final = "100"
_MODULE: Final = "160000"
_APART: Final = "is a submodule, and not read; add its repository by itself"


class Repository:
    """One commit of a repository, in a folder that goes with it."""

    def __init__(self, folder: Path, label: str, commit: str) -> None:
        self.label: Final = label
        self.commit: Final = commit
        self._folder = folder
        self._tree: dict[str, tuple[str, str, int]] | None = None

    def read(self, path: str) -> tuple[dict[str, bytes], set[str], list[str]]:
        """Return the files of packs and the manifests of plugins below a folder.

        They are by path; next to them are the paths of what is no file, such as a link,
        and a sentence on each of these that is a submodule.

        Raises:
            NotInstalledError: There is no such folder, or more than is read.
        """
        start = f"{path}/" if path else ""
        rows = self._listed().items()
        inside = {n.removeprefix(start): row for n, row in rows if n.startswith(start)}
        if not inside:
            detail = f"it has no folder {path!r} at {self.commit[:12]}"
            raise NotInstalledError(self.label, detail)
        links = {n for n, (mode, _, _) in inside.items() if not mode.startswith(_FILE)}
        files = {name for name in inside if name not in links}
        names = sorted(_of_packs(files) | {*filter(is_manifest, files)})
        total = sum(inside[name][2] for name in names)
        counts = (MAX_FILES, len(names), "files"), (MAX_FILE_BYTES, total, "bytes")
        for most, actual, unit in counts:
            if actual > most:
                detail = f"it has {actual:,} {unit} of packs; at most {most:,} are read"
                raise NotInstalledError(self.label, detail)
        blobs = self._blobs([inside[name][1] for name in names])
        apart = [f"{start}{n} {_APART}" for n in links if inside[n][0] == _MODULE]
        return dict(zip(names, blobs, strict=True)), links, sorted(apart)

    def _listed(self) -> Mapping[str, tuple[str, str, int]]:
        """Return mode, object and size of everything at the commit, by path."""
        if self._tree is None:
            out = _git(self._folder, "ls-tree", "-r", "-z", "--long", self.commit)
            rows = (row.partition(b"\t") for row in out.split(b"\0") if row)
            self._tree = {}
            for head, _, name in rows:
                mode, _, blob, size = head.decode("ascii").split()
                # A name that is no text is listed as one that no system takes.
                text = name.decode("utf-8", "backslashreplace")
                if not {"", ".", ".."}.isdisjoint(text.split("/")):
                    detail = f"it has a name git would not make: {clean_line(text)}"
                    raise NotInstalledError(self.label, detail)
                self._tree[text] = mode, blob, int(size) if size != "-" else 0
        return self._tree

    def _blobs(self, names: Sequence[str]) -> Iterator[bytes]:
        asked = "".join(f"{name}\n" for name in names).encode("ascii")
        out = _git(self._folder, "cat-file", "--batch", stdin=asked)
        at = 0
        for _ in names:
            end = out.index(b"\n", at)
            size = int(out[at:end].rpartition(b" ")[2])
            yield out[end + 1 : end + 1 + size]
            at = end + 2 + size


def _of_packs(names: set[str]) -> set[str]:
    """Return the files at or below a folder that has a SKILL.md, however spelled."""
    end = f"/{SKILL_FILE}".lower()
    packs = (name for name in names if f"/{name}".lower().endswith(end))
    tops = {name[: -len(SKILL_FILE)] for name in packs}

    def is_in(name: str) -> bool:
        ends = (at for at, char in enumerate(name, 1) if char == "/")
        return "" in tops or any(name[:end] in tops for end in ends)

    return {name for name in names if is_in(name)}


@contextmanager
def fetched(upstream: Upstream, commit: str = "") -> Generator[Repository]:
    """Fetch one commit of a repository; ``commit`` is one that a lock names.

    Raises:
        NotInstalledError: It answers, and has no such commit.
        SourceUnavailableError: git is not there, the repository does not answer, or
            it is larger than `MAX_BYTES`.
    """
    label = upstream.place
    folder = Path(tempfile.mkdtemp(prefix="satchel-git-"))
    try:
        _git(folder, "init", "-q", "--bare", "--template=", label=label)
        try:
            _fetch(folder, label, commit or upstream.rev or "HEAD")
        except (NotInstalledError, SourceUnavailableError):
            if not commit:
                raise
            # A server may show only what a name leads to.
            _fetch(folder, label, upstream.rev or "HEAD")
        spec = f"{commit or 'FETCH_HEAD'}^{{commit}}"
        try:
            name = _git(folder, "rev-parse", "--verify", "-q", spec, label=label)
        except SourceUnavailableError as error:
            detail = f"{upstream.rev or 'HEAD'} leads to no commit"
            if commit:
                detail = f"the commit {commit[:12]} of the lock is not there any more"
            raise NotInstalledError(label, detail) from error
        yield Repository(folder, label, name.decode("ascii").strip())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def current_commit(upstream: Upstream) -> str:
    """Return the commit that a revision leads to now; empty where git cannot say."""
    ref = upstream.rev or "HEAD"
    if _COMMIT.fullmatch(ref):
        return ref  # it leads nowhere else, also where nobody answers
    tag, label = f"refs/tags/{ref}", upstream.place
    # As git itself fetches what a tag and a branch are both called.
    names = [ref] if ref == "HEAD" else [f"{tag}^{{}}", tag, f"refs/heads/{ref}"]
    with tempfile.TemporaryDirectory(prefix="satchel-git-") as folder:
        out = _git(Path(folder), "ls-remote", "--", label, *names, label=label)
    rows = dict(line.split("\t")[::-1] for line in out.decode("utf-8").splitlines())
    return next((rows[name] for name in names if name in rows), "")


def _fetch(folder: Path, place: str, ref: str) -> None:
    options = ("-q", "--depth=1", "--no-tags", "--no-recurse-submodules")
    _git(folder, "fetch", *options, "--", place, ref, label=place)


def _git(folder: Path, *args: str, stdin: bytes = b"", label: str = "git") -> bytes:
    """Run git in a bare repository of ours, bounded in time and in what it writes."""
    environ = {k: v for k, v in os.environ.items() if not _DROPPED.fullmatch(k)}
    environ |= {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    environ["GIT_CEILING_DIRECTORIES"] = str(folder.parent)
    # Files, and no pipes: nothing waits for anybody to read or write.
    temporary = tempfile.TemporaryFile
    with temporary() as asked, temporary() as out, temporary() as err:
        asked.write(stdin)
        asked.seek(0)
        try:
            # Without a terminal nothing asks for a password.
            how: dict[str, Any] = {"start_new_session": True, "stdin": asked}
            how |= {"cwd": folder, "env": environ, "stdout": out, "stderr": err}
            process = subprocess.Popen(["git", *_SAFE, *args], **how)  # noqa: S607
        except FileNotFoundError as error:
            detail = "git is not installed, and repositories are read by it"
            raise SourceUnavailableError(label, detail) from error
        try:
            _wait(process, folder, label)
        finally:
            _end(process)
        if process.returncode:
            err.seek(0)
            text = err.read(8_192).decode("utf-8", "replace")
            if not _ABSENT.search(text):
                raise SourceUnavailableError(label, _reason(text))
            detail = f"it has no branch, tag or commit {args[-1]!r}; a commit is named "
            raise NotInstalledError(label, f"{detail}by all of its digits")
        out.seek(0)
        return out.read()


def _wait(process: "subprocess.Popen[Any]", folder: Path, label: str) -> None:
    end = time.monotonic() + TIMEOUT_S
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_POLL_S)
            return
        if time.monotonic() > end:
            raise SourceUnavailableError(label, f"git took over {TIMEOUT_S:g} seconds")
        if _size_of(folder) > MAX_BYTES:
            raise SourceUnavailableError(label, f"git wrote over {MAX_BYTES:,} bytes")


def _size_of(folder: Path) -> int:
    """Return how many bytes of packs are there, while git writes and renames them."""
    size = 0
    for file in folder.rglob("*pack*"):
        with suppress(FileNotFoundError):
            size += file.stat().st_size
    return size


def _end(process: "subprocess.Popen[Any]") -> None:
    """End git, and what it has started, such as ssh."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _reason(text: str) -> str:
    """Return what git said last, on one line, and without a user or a password."""
    lines = [line for line in text.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    line = (fatal or lines or ["git failed"])[0].partition(": ")
    return clean_line(_SECRET.sub("***@", line[2] or line[0]))[:200]
