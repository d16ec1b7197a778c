"""Which program runs a script, by its suffix, and the files that this program needs."""

# ruff: noqa: PTH100, PTH110, PTH112, PTH114, PTH115, PTH118, PTH119, PTH120, PTH122 - as text

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from satchel_scripts._limits import NotRunError

_SYSTEM: Final = "/usr/bin:/bin"
# What a program below a prefix may need; /usr and an environment are such, too.
_PARTS: Final = ("bin", "lib", "lib32", "lib64", "libexec", "share", "pyvenv.cfg")
# What programs of the system read outside of /usr, none of which is a secret.
_SYSTEM_FILES: Final = (
    *("/bin", "/lib", "/lib32", "/lib64", "/sbin"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/localtime"),
    *("/etc/libreoffice", "/etc/mime.types", "/etc/ssl/openssl.cnf"),
    "/etc/ImageMagick-6",
)
# Programs that reserve far more addresses than they use.
_RESERVING: Final = frozenset({"node", "nodejs", "deno", "bun", "java"})
_ASK: Final = "import sys; print(sys.base_prefix)"
_MOST_HOPS: Final = 40
_ASK_S: Final = 20.0
_PYTHON_OPTIONS: Final = ("-s", "-u", "-B")


class Interpreters:
    """The operator's table of programs by suffix, and the Python that runs ``.py``.

    Args:
        python: An interpreter, or the folder of an environment; None is this one.
        others: More programs by suffix, each a path or a name; an empty one takes a
            suffix away. Scripts of one that is not there are refused.
        read: More files and folders that a script may read.

    Raises:
        ValueError: ``python`` is no program, or a suffix has no dot.
    """

    def __init__(
        self,
        python: str | os.PathLike[str] | None = None,
        others: Mapping[str, str] | None = None,
        read: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        path = os.path.abspath(python or sys.executable)
        if os.path.isdir(path):
            path = os.path.join(path, "bin", "python")
        if not os.access(path, os.X_OK):
            raise ValueError(f"python={path!r}: no program, and no environment")
        self.executable = path
        named = dict(others or {})
        if undotted := [suffix for suffix in named if not suffix.startswith(".")]:
            raise ValueError(
                f"interpreters={undotted[0]!r}: a suffix begins with a dot"
            )
        # A name that is not on the path is not looked for in the working folder.
        self._others = {of: shutil.which(name) or "" for of, name in named.items()}
        self._missing = {of: name for of, name in named.items() if not self._others[of]}
        self._read = tuple(os.path.abspath(path) for path in read)

    @cached_property
    def _table(self) -> dict[str, tuple[str, ...]]:
        shell = shutil.which("bash", path=_SYSTEM) or shutil.which("sh", path=_SYSTEM)
        programs = {".sh": shell, ".js": shutil.which("node")}
        programs |= self._others
        table = {
            suffix: (os.path.abspath(program),)
            for suffix, program in programs.items()
            if program
        }
        return {".py": (self.executable, *_PYTHON_OPTIONS), **table}

    def command(self, path: str) -> tuple[str, ...]:
        """Return the program for a script and its options.

        Raises:
            NotRunError: The table has none for its suffix, or that one is not there.
        """
        suffix = os.path.splitext(path)[1]
        if suffix in self._table:
            return self._table[suffix]
        if name := self._missing.get(suffix):
            raise NotRunError(f"{name}, named for {suffix!r}, is no program here")
        names = ", ".join(sorted(self._table))
        shown = repr(suffix) if suffix else "a file without a suffix"
        raise NotRunError(
            f"no interpreter is named for {shown}; there is one for {names}. The "
            'operator can name more: interpreters={".rb": "/usr/bin/ruby"}'
        )

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """The prefixes of all programs of the table; the first is Python's own."""
        try:
            asked = subprocess.run(
                [self.executable, "-I", "-S", "-c", _ASK],
                capture_output=True,
                check=True,
                text=True,
                timeout=_ASK_S,
                env={},
            )
        except subprocess.SubprocessError as error:
            raise NotRunError(f"{self.executable} does not run: {error}") from error
        base = asked.stdout.strip()
        environment = os.path.dirname(os.path.dirname(self.executable))
        others = [os.path.dirname(os.path.dirname(path)) for path in self._programs]
        return tuple(dict.fromkeys((base, environment, *others)))

    @property
    def _programs(self) -> list[str]:
        """The programs of the table, and where links of them lead to."""
        commands = self._table.values()
        return [path for command in commands for path in _hops(command[0])]

    @cached_property
    def readable(self) -> tuple[str, ...]:
        """What a script may read outside of its pack and its work folder."""
        prefixes = dict.fromkeys(("/usr", *self.prefixes))
        paths = [
            os.path.join(prefix, part)
            for prefix in prefixes
            if prefix != "/"
            for part in _PARTS
        ]
        every = (*_SYSTEM_FILES, *paths, *self._programs, *self._read)
        existing = [path for path in dict.fromkeys(every) if os.path.exists(path)]
        folders = tuple(f"{path}/" for path in existing)
        return tuple(path for path in existing if not path.startswith(folders))

    @cached_property
    def search_path(self) -> str:
        """The variable PATH: this Python's folder, then the system's."""
        folders = [os.path.dirname(self.executable)]
        folders += [os.path.join(prefix, "bin") for prefix in self.prefixes]
        existing = [path for path in dict.fromkeys(folders) if os.path.isdir(path)]
        return ":".join(dict.fromkeys([*existing, *_SYSTEM.split(":")]))

    @staticmethod
    def reserves_addresses(program: str) -> bool:
        """Tell whether a program reserves far more addresses than it uses."""
        return os.path.basename(os.path.realpath(program)) in _RESERVING


def _hops(path: str) -> Iterator[str]:
    """Yield a program's path, and each path that a link of it leads to."""
    for _ in range(_MOST_HOPS):
        yield path
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
