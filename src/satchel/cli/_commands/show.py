"""``satchel show``: a skill or a file, as text, as a tool result, or by layers."""

import json
import os
from base64 import b64encode
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import click

from satchel.cli._options import (
    complete_skill,
    open_skills,
    read_settings,
    recording,
    warn,
)
from satchel.cli._paths import skills_option
from satchel.cli._terminal import (
    echo,
    echo_error,
    echo_json,
    echo_rows,
    flag,
    json_option,
    on_terminal,
    one_line,
    width,
    write_text,
)
from satchel.errors import (
    DuplicateSkillError,
    MissingPathError,
    SkillError,
    SkillNotFoundError,
    rename_advice,
)
from satchel.load import (
    PlainBackend,
    error_result,
    packs_result,
    render_context,
    render_context_error,
    tools_for,
)
from satchel.model import DEFAULT_LIMITS, MAX_NAME_CHARS, Json, Loaded, Request, Style
from satchel.text import ascii_json, nearest

if TYPE_CHECKING:
    from satchel.runtime import Satchel
    from satchel.sources import LayeredSource, LayerExplanation


ENVELOPES = ("lean", "xml", "json")


@click.command("show")
@click.argument("name", shell_complete=complete_skill)
@click.option("--reference", metavar="FILE", help="Print one of its references.")
@click.option("--script", metavar="FILE", help="Print one of its scripts.")
@click.option("--asset", metavar="FILE", help="Print one of its assets.")
@click.option(
    "--envelope",
    type=click.Choice(ENVELOPES),
    help="Print the result that a tool gives a model, also if it is an error: lean is "
    "the default style, xml is agent-skills, json is packs.",
)
@flag("--layers", "Show which layer gives what. PATHs are then base, team and user.")
@json_option
@skills_option
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    name: str,
    reference: str | None,
    script: str | None,
    asset: str | None,
    envelope: "Envelope | None",
    layers: bool,
    as_json: bool,
    paths: tuple[str, ...],
) -> int:
    """Print the body of a skill, or one of its files.

    A pipe gets the exact bytes; on a terminal, control characters are made visible.
    FILE is a short name or a path in the pack.

    Status: 0, or 1 if it does not exist or may not be loaded.

    \b
    Examples:
      satchel show pdf-forms ./skills
      satchel show pdf-forms --reference fields.md
      satchel show pdf-forms --script fill.py > fill.py
      satchel show pdf-forms --envelope lean
      satchel show pdf-forms --layers
    """
    named = {"references": reference, "scripts": script, "assets": asset}
    files = [(bucket, file) for bucket, file in named.items() if file is not None]
    if len(files) > 1:
        raise click.UsageError("ask for one file: --reference, --script or --asset")
    if layers:
        if files or envelope:
            raise click.UsageError("--layers goes with no other option")
        show_layers(name, paths, as_json=as_json)
        return 0
    if as_json and envelope:
        raise click.UsageError("give --json or --envelope, not both")
    bucket, file = files[0] if files else ("", None)
    request = ShowRequest(name, bucket, file)
    with recording() as sinks, open_skills(paths, trusted=False, sinks=sinks) as skills:
        if envelope is not None:
            text, is_error = tool_output(skills, request, envelope)
            write_text(text)
            return 1 if is_error else 0
        warn(skills)
        # `via` keeps it apart from loads by agents: a look by a person is no use.
        loaded = skills.load(name, request.path_in(skills), via="cli")
    if as_json:
        echo_json(_fields(loaded))
    else:
        _print(loaded)
    return 0


def _fields(loaded: Loaded) -> dict[str, object]:
    """Return a file as JSON has it; ``base64`` instead of ``text`` where it is none."""
    keys = ("id", "file", "media_type", "digest", "notes")
    fields: dict[str, object] = {key: getattr(loaded, key) for key in keys}
    if loaded.is_binary:
        return fields | {"base64": b64encode(loaded.data).decode()}
    return fields | {"text": loaded.body if loaded.is_instructions else loaded.text}


def _print(loaded: Loaded) -> None:
    for note in loaded.notes:
        echo_error(f"note: {note}")
    if loaded.is_instructions:
        write_text(loaded.body)
    elif loaded.is_binary and on_terminal():
        echo_error(
            f"{loaded.file}: {loaded.media_type}, {len(loaded.data):,} bytes, no text"
        )
    else:
        write_text(loaded.text, loaded.data)


Envelope: TypeAlias = Literal["lean", "xml", "json"]


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """A skill, or a file of it in ``bucket``."""

    name: str
    bucket: str = ""
    file: str | None = None

    def path_in(self, skills: "Satchel") -> str | None:
        """Return the file's path: in its bucket if it is listed there."""
        entry = skills.catalog.get(self.name)
        path = f"{self.bucket}/{self.file}"
        if entry is None or self.file in entry.resources or path not in entry.resources:
            return self.file
        return path


def tool_output(
    skills: "Satchel", show: ShowRequest, envelope: Envelope
) -> tuple[str, bool]:
    """Return the result of the tool call that asks for this, and whether it failed."""
    is_error = False

    def load(request: Request) -> Loaded:
        nonlocal is_error
        try:
            return skills.load(request.id, request.file, via="cli")
        except SkillError:
            is_error = True
            raise

    backend = PlainBackend(load, lambda: skills.catalog)
    path = show.path_in(skills)
    if envelope == "lean":
        result = _lean(backend, show.name, path)
    elif envelope == "xml" and path is None:
        try:
            result = render_context(load(Request(show.name)))
        except SkillError as error:
            result = render_context_error(error, show.name)
    elif envelope == "xml" or show.bucket == "assets":
        result = _file(backend, show.name, path, xml=envelope == "xml")
    else:
        files = {show.bucket: show.file}
        named = files.get("references"), files.get("scripts")
        result = ascii_json(packs_result(backend, show.name, *named))
    return f"{result}\n", is_error


def _lean(backend: PlainBackend, name: str, path: str | None) -> str:
    box = tools_for("lean", backend, even_empty=True)
    if path is None:
        return str(box.call("load_skill", {"skill_id": name}))
    return str(box.call("read_skill_file", {"skill_id": name, "path": path}))


def _file(backend: PlainBackend, name: str, path: str | None, *, xml: bool) -> str:
    """Return the result of ``read_skill_file`` in the style of the envelope."""
    style: Style = "agent-skills" if xml else "packs"
    box = tools_for(style, backend)
    if not box:  # with no skill listed there is no tool, and every call is an error
        try:
            backend.loader(Request(name))
        except SkillError as error:
            return ascii_json(error_result(error))
    arguments = {"skill_id" if xml else "name": name, "path": path}
    return ascii_json(box.call("read_skill_file", arguments))


_SUGGESTIONS: Final = 3


def show_layers(name: str, paths: tuple[str, ...], *, as_json: bool) -> None:
    """Print where each field, the body and each file of a skill comes from."""
    with closing(_open_layers(paths)) as source:
        explained = _explained(source, name)
    if as_json:
        places = [{"layer": layer, "path": at} for layer, at in explained.layers]
        echo_json(asdict(explained) | {"layers": places})
        return
    echo(one_line(explained.name))
    echo_rows([(f"  {layer}", one_line(at)) for layer, at in explained.layers], None)
    echo()
    rows = [("FIELD", "FROM", "VALUE")]
    for field in explained.fields:
        layers = (" + " if field.strategy == "append" else " < ").join(field.layers)
        rows.append((one_line(field.field), layers, _shown_value(field.value)))
    rows.append(("(body)", explained.body, ""))
    rows += [(one_line(path), layer, "") for path, layer in explained.files.items()]
    echo_rows(rows, width())
    if len(explained.layers) > 1:
        echo()
        echo("a < b: b wins over a; a + b: both, in this order")


def _open_layers(paths: tuple[str, ...]) -> "LayeredSource":
    from satchel.sources import LAYERS, LayeredSource, local_layers

    folders: dict[str, str | None] = dict.fromkeys(LAYERS)
    if not paths:
        folders |= dict(read_settings().layers or ())
        return LayeredSource(local_layers(folders, limits=DEFAULT_LIMITS))
    if len(paths) > len(LAYERS):
        raise click.UsageError("there are three layers: base, team and user")
    for path in paths:
        if not os.path.isdir(path):  # noqa: PTH112 - to pathlib an empty path is a folder
            raise MissingPathError(path)
    named = dict(zip(LAYERS, paths, strict=False))
    return LayeredSource(local_layers(named, limits=DEFAULT_LIMITS))


def _explained(source: "LayeredSource", name: str) -> "LayerExplanation":
    """Return the skill in the folder of this name, else the one that is called so."""
    keys = source.keys()
    folders = [key for key in keys if key.rpartition("/")[2] == name]
    owners = [skill for skill in map(source.explain, folders) if skill.name == name]
    if len(owners) > 1:
        first, second = (owner.layers[-1][1] for owner in owners[:2])
        raise DuplicateSkillError(name, first, second, rename_advice())
    if owners:
        return owners[0]
    for key in keys:
        with suppress(SkillError):  # what is wrong with another is not asked for
            explanation = source.explain(key)
            if explanation.name == name:
                return explanation
    names = [key.rpartition("/")[2] for key in keys]
    raise SkillNotFoundError(
        name, tuple(nearest(name[:MAX_NAME_CHARS], names, _SUGGESTIONS))
    )


def _shown_value(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text)
