"""Ask a source for one file, and see that it is the one that was catalogued."""

from satchel.errors import (
    LimitExceededError,
    PackFileError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.model import SKILL_FILE, Descriptor, Reader

__all__ = ["fetch", "has_changed"]


def fetch(reader: Reader, descriptor: Descriptor, file: str, limit: int) -> bytes:
    """Return the bytes; every failure names the skill and the path inside the pack."""
    name, listed = descriptor.id, descriptor.resources
    try:
        data = reader.read(descriptor.origin.key, file, limit)
    except ReferenceNotFoundError as error:
        raise ReferenceNotFoundError(name, file, listed) from error
    except SkillNotFoundError as error:
        detail = "the whole pack is gone"
        raise ReferenceNotFoundError(name, file, listed, detail) from error
    except PackFileError as error:
        raise type(error)(name, file, detail=error.detail) from error
    except LimitExceededError as error:
        raise _too_large(file, limit, error.actual) from error
    except SkillError:
        raise
    except (TimeoutError, ConnectionError) as error:  # a plug-in reads from elsewhere
        raise SourceUnavailableError(descriptor.source, type(error).__name__) from error
    except OSError as error:
        # Its message would carry the absolute path; strerror does not.
        detail = error.strerror or type(error).__name__
        raise ReferenceUnreadableError(name, file, detail=detail) from error
    except Exception as error:  # a source is a plug-in
        source = descriptor.source
        raise SourceUnavailableError(source, type(error).__name__) from error
    if len(data) > limit:
        raise _too_large(file, limit, len(data))
    return data


def _too_large(file: str, limit: int, actual: int) -> LimitExceededError:
    name = "skill_md_bytes" if file == SKILL_FILE else "file_bytes"
    return LimitExceededError(name, limit, actual, "bytes", file)


def has_changed(
    reader: Reader, descriptor: Descriptor, file: str, size: int, digest: str
) -> bool:
    """Tell whether a file beside SKILL.md is not the one that was catalogued.

    Where the catalog knows its digest, that tells. False where the catalog does not say
    what it saw. Else what tells is size and mark, as of R25: a file that was written
    anew with the same bytes counts as changed.
    """
    known = next((stat for stat in descriptor.files if stat.path == file), None)
    if known is None:
        return False
    if known.size != size:
        return True
    if known.digest:
        return known.digest != digest
    key = descriptor.origin.key
    # A look at one file, where the source has it: a look at each file of a large pack
    # for each of them would take minutes. What it does not confirm is asked in full.
    stat_file = getattr(reader, "stat_file", None)
    if stat_file is not None and stat_file(key, file) == known:
        return False
    try:
        now = tuple(reader.files(key))
    except (SkillError, OSError):
        return True
    return known not in now
