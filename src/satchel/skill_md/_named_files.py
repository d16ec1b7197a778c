"""Which files of a pack a text means, and which of its scripts it asks to run.

Only listed paths are compared, so nothing outside of a pack is ever looked at.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from satchel.files import folded_name
from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE
from satchel.skill_md._opening import body_of
from satchel.text import printable

_BUCKETS: Final = ("references/", "scripts/", "assets/")
# Nothing longer is a path: as many as a path has bytes, all of them encoded.
_MAX_CHARS: Final = 4 * 1024
# What is written around a path: a link, quotes, back-ticks, brackets, an `@`.
_LINK: Final = re.compile(
    r"!?\[[^\]]*\]\((.*)\)|[(<\[](.*)[)>\]]|\*\*(.*)\*\*", re.DOTALL
)
_AROUND: Final = " \t\r\n`'\"\u2018\u2019\u201c\u201d"
# What is written behind it: an anchor, a query, lines, the end of a sentence.
_BEHIND: Final = re.compile(
    r"(?:\?[^#]*)?(?:#.*)?\Z|:\d+(?:[-:,]\d+)*\Z|(?<=\w)[.,;:!]+\Z", re.DOTALL
)
# A skill's own folder, as texts for one client or another write it.
_FOLDER: Final = re.compile(
    r"(?:(?:\$?\{{1,2}|[$<%])\s*[\w.-]*(?:skill|base_?dir|plugin_?root)[\w:. -]*[}>%]*"
    r"[/\\]+|skill://)",
    re.IGNORECASE,
)


def split_target(written: str) -> tuple[str, str]:
    """Return the path in what a text wrote, and the anchor behind it; both plain.

    The path is decoded, and begins below the skill's folder where that is a
    placeholder; it is not normalised.
    """
    if len(written) > _MAX_CHARS:
        return written, ""
    text = written.strip(_AROUND)
    if link := _LINK.fullmatch(text):
        text = "".join(filter(None, link.groups())).strip(_AROUND)
    text = _FOLDER.sub("", text.removeprefix("@"), count=1)
    path = unquote(_BEHIND.sub("", text, count=1)).replace("\\", "/").strip()
    return path, unquote(text.partition("#")[2])


def plain_path(written: str) -> str:
    """Return the path in what a text wrote, normalised; it may lead anywhere."""
    path, _ = split_target(written)
    return posixpath.normpath(path) if path else ""


def named_files(
    written: str, listed: Collection[str], names: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the listed paths that ``written`` names: one, or none, or several.

    A listed path is itself. Else it is read as `plain_path` does: as a path from the
    root, or below a folder of one of the skill's ``names``; inside of a bucket; as the
    end of a path; as a path from the folder of another file; each of them also as a
    name that hides characters is shown, and in another case.
    """
    if written in listed or written == SKILL_FILE:
        return (written,)
    paths = [SKILL_FILE, *listed]
    plain = plain_path(written)
    for key in (str, _shown, folded_name):
        keys: dict[str, list[str]] = {}
        for path in paths:
            keys.setdefault(key(path), []).append(path)
        for form in (plain, *_below(plain, names)):
            for meant in _ways(key(form), keys):
                fitting = [path for one in meant for path in keys.get(one, ())]
                if fitting:
                    return tuple(dict.fromkeys(fitting))
    return ()


def _shown(path: str) -> str:
    return printable(path, keep="")


def _below(path: str, names: Collection[str]) -> Iterator[str]:
    """Yield what follows the skill's own folder in a path, where that is certain."""
    for name in names:
        above, slash, below = f"/{path}".partition(f"/{name}/")
        is_own = above in {"", "/.."} or "skills" in above.split("/")
        if name and slash and is_own and not path.startswith("/") and ":" not in path:
            yield below


def _ways(path: str, listed: Collection[str]) -> Iterator[list[str]]:
    """Yield the listed paths that a normalised path may mean, the likeliest first."""
    yield [path]
    yield [f"{bucket}{path}" for bucket in _BUCKETS]
    yield [one for one in listed if path and one.endswith(f"/{path}")]
    if path.startswith("../"):
        folders = {posixpath.dirname(one) for one in listed}
        yield sorted({posixpath.normpath(f"{f}/{path}") for f in folders if f})


# References of one skill that are looked at.
_MOST_REFERENCES: Final = 20
# Characters of a text, and those around a name, that are looked at.
_TEXT_CHARS: Final = 200_000
_NEAR_CHARS: Final = 240
_ENDINGS: Final = r"\.(?:bash|[cm]?js|php|pl|ps1|py|r|rb|sh|ts)"
_PROGRAM: Final = lazy_pattern(rf"scripts/.|.*{_ENDINGS}\Z")
# What some clients write in front of a path: where the skill is.
_ABOVE: Final = lazy_pattern(r"\A.*[/\\](?=scripts[/\\])")
# A word that keeps from it, a program or a verb that asks for it, and a path. A path
# by itself is a command behind a prompt, at the top of a shell's code block, or with
# `./` at the beginning of a line or of a code span. Each repetition has an end, and a
# path begins where a word does: else a hostile text takes minutes.
_REQUEST: Final = lazy_pattern(
    r"(?:\b(?P<no>(?:do|does|must|should) not|(?:do|does)n['\u2019]t|avoid|cannot|never"
    r"|instead of|rather than|see|read|view|open|without)[\s*_`\"']{1,4}"
    r"(?:[^\W_]{1,30}[\s*_`\"']{1,4}){0,2}?)?"
    r"(?:(?<![\w.-])(?:bash|bun|deno|exec|node|npx|perl|php|pipenv|poetry|powershell"
    r"|pwsh|py|python[\d.]*|rscript|ruby|sh|source|sudo|ts-node|tsx|uvx?|zsh)(?:\.exe)?"
    r"(?:[ \t]{1,9}run)?(?:[ \t]{1,9}-[\w-]{1,60}(?:[ =][\w.,<=>-]{1,60})??){0,8}?"
    r"[ \t]{1,9}"
    r"|(?:\b(?:re-?)?(?:run(?:ning)?|execut(?:e|ing)|invok(?:e|ing)|launch(?:ing)?)\b"
    r"|\u8fd0\u884c|\u6267\u884c|\u5b9f\u884c)"
    r"(?:[^.;!?\n]|\.(?=\w)|\n(?![ \t]{0,80}\n)){0,80}?(?<=[\s\"'`()\[\]|,;=*])"
    r"|^[ \t>]*[$%][ \t]+|^[ \t]*```(?:(?:ba|z)?sh|shell|console)\n[ \t]*"
    r"|(?:^[ \t>]*|[`&|;][ \t]*)(?=\./))"
    r"[\"'`]?"
    r"(?P<path>-m[ \t]{1,9}\w{1,60}(?:\.\w{1,60}){0,8}(?!/)"
    r"|[^\s\"'`()\[\]|,;=*]{0,120}"
    rf"(?:scripts[/\\][\w./\\-]{{0,120}}\w|{_ENDINGS})(?![\w-]|\.\w))",
    re.IGNORECASE | re.MULTILINE,
)


def first_request(
    file: str, read: Callable[[str], str], paths: Sequence[str]
) -> tuple[str, dict[str, int]]:
    """Return the first text that asks to run files of its pack, and on which lines.

    That is ``file``, or, where that is SKILL.md, one of the Markdown files it names. A
    link to a script, or a list of them, does not ask.
    """
    programs = [path for path in paths if _PROGRAM.match(path)]
    if not programs:
        return file, {}
    text = read(file)
    named = [path for path in paths if path.lower().endswith(".md")]
    named = [path for path in named if path.rpartition("/")[2] in text]
    for name in (file, *(named[:_MOST_REFERENCES] if file == SKILL_FILE else ())):
        text = (read(name) if name != file else text)[:_TEXT_CHARS]
        start = len(text) - len(body_of(text)) if name == SKILL_FILE else 0
        lines: dict[str, int] = {}
        for match in _requests(text, start, programs):
            written = _ABOVE.sub("", match["path"])
            if written.startswith("-m"):
                written = f"{written[2:].strip().replace('.', '/')}.py"
            fitting = () if match["no"] else named_files(written, programs)
            if len(fitting) == 1 and fitting[0] != SKILL_FILE:
                line = 1 + text.count("\n", 0, match.start("path"))
                lines.setdefault(fitting[0], line)
        if lines:
            return name, lines
    return file, {}


def _requests(text: str, start: int, programs: list[str]) -> Iterator[re.Match[str]]:
    """Yield what looks like a request, near to where a text names a program."""
    names = {"-m ", *(path.rpartition("/")[2] for path in programs)}
    places = (
        one.start() for name in names for one in re.finditer(re.escape(name), text)
    )
    spans: list[tuple[int, int]] = []
    for at in sorted(places):
        begin = max(start, at - _NEAR_CHARS)
        if spans and begin <= spans[-1][1]:
            begin = spans.pop()[0]
        spans.append((begin, at + _NEAR_CHARS))
    for begin, end in spans:
        yield from _REQUEST.finditer(text, begin, end)
