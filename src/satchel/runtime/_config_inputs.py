"""What a configuration file names, as sources."""

from dataclasses import replace
from pathlib import Path

from satchel import sources as places
from satchel.config import Config, find_config, load_config
from satchel.errors import ConfigError, MissingPathError
from satchel.model import CONFIG_FILE, DEFAULT_LIMITS
from satchel.runtime._inputs import OpenedInputs, open_inputs
from satchel.runtime._options import DEFAULT_OPTIONS, Options


def open_nearest_config(pin: str | None, options: Options) -> OpenedInputs:
    """Open what the file of the options says, or the nearest; no sources for none."""
    # A pin that nothing checks would be worse than none.
    if pin is not None:
        detail = "name the release that it is for; satchel.toml is not read for it"
        raise ConfigError("pin", detail)
    here, given = Path.cwd(), options.config
    path = Path(given) if given else find_config(here, options.environ)
    if path is None:
        config = Config(limits=options.limits or DEFAULT_LIMITS)
        return OpenedInputs((), frozenset(), config, advice=no_input_advice(here))
    return open_config(path, options)


def open_config(path: Path, options: Options = DEFAULT_OPTIONS) -> OpenedInputs:
    """Open what a configuration file says.

    ``limits`` and ``prefix`` of the options win over those of the file, and
    ``allow_private`` of either allows.
    """
    config = load_config(path, options.environ)
    if options.limits is not None:
        config = replace(config, limits=options.limits)
    limits = config.limits
    try:
        opened = open_inputs(
            config.skills,
            limits=limits,
            allow_private=options.allow_private or config.allow_private,
            prefix=config.prefix if options.prefix is None else options.prefix,
        )
    except MissingPathError as error:
        if error.path != str(path.parent / "skills"):
            raise
        detail = "there is no folder skills; if [skills] says what is in it, type: "
        raise ConfigError(str(path), f"{detail}satchel sync") from error
    sources = [*opened.sources]
    if config.packages:
        names = config.packages if isinstance(config.packages, tuple) else None
        sources += places.packages(only=names, limits=limits)
    if config.layers is not None:
        sources.append(places.layered(**dict(config.layers), limits=limits))
    if config.usual:
        sources += places.usual(project=path.parent, trust=config.trust, limits=limits)
    advice = "" if sources else no_input_advice(path.parent)
    return OpenedInputs(tuple(sources), opened.named, config, advice=advice)


def no_input_advice(start: Path) -> str:
    """Return what to do if no folder is named, not by a configuration file either."""
    usual = places.PROJECT_FOLDERS
    nearby = next((name for name in usual if (start / name).is_dir()), None)
    seen = "no folder was named; name one"
    if nearby is not None:
        seen = f"there is a folder {nearby}; name it"
    folder = nearby or "path/to/skills"
    return (
        f"no {CONFIG_FILE} here or above names skills, and {seen}, or "
        f'write skills = ["{folder}"] into {CONFIG_FILE}'
    )
