"""What each load is verified with: what settings and sources ask for, and refuse."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from satchel.config import Config, load_config, own_config
from satchel.errors import SkillError
from satchel.products import import_product
from satchel.protocols import Verifier
from satchel.runtime._inputs import OpenedInputs


def open_verifier(
    opened: OpenedInputs, environ: Mapping[str, str], given: Verifier | None = None
) -> Verifier | None:
    """Return what ``[trust]`` asks for, or a source; None where nothing does.

    The user's own file counts whatever was named, and a project's may tighten it.
    A verifier that is ``given`` takes the place of ``verify``, and takes back nothing
    that is withdrawn.

    Raises:
        ConfigError: The file cannot be used.
        ProductMissingError: ``satchel_install`` is not installed.
    """
    config = opened.config if opened.config.path else own_config(environ)
    if given is not None:
        return _refusing(opened, given, config)
    refusing = any(hasattr(source, "refusal_of") for source in opened.sources)
    if not (config.verify or config.withdrawn or refusing):
        return None
    install = import_product("satchel_install.verification", "[trust]")
    of = config, opened.sources, opened.config.path, environ
    return cast("Verifier", install.open_verifier(*of))


def renewed_verifier(
    opened: OpenedInputs, environ: Mapping[str, str], before: Verifier | None
) -> Verifier | None:
    """Return the verifier of before, with what settings have withdrawn by now.

    Settings that are shorter, or cannot be read, take nothing back; the latter is
    logged.
    """
    try:
        path = opened.config.path
        config = load_config(Path(path), environ) if path else own_config(environ)
        if not hasattr(before, "withdraw"):
            return _refusing(opened, before, config)
        cast("Any", before).withdraw(config.withdrawn)
    except (SkillError, OSError) as error:
        detail = "%s; what was withdrawn before is refused still"
        logging.getLogger("satchel").warning(detail, error)
    return before


def _refusing(
    opened: OpenedInputs, inner: Verifier | None, config: Config
) -> Verifier | None:
    """Return a verifier that refuses what is withdrawn, too."""
    if not config.withdrawn:
        return inner
    install = import_product("satchel_install.verification", "[trust] withdrawn")
    of = opened.sources, inner, config.withdrawn
    return cast("Verifier", install.RefusalVerifier(*of))
