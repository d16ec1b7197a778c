"""`resolve_role_prompt` and `load_skill`, which share a resolver for each folder."""

import logging
import os
import threading
from collections.abc import Collection, Mapping
from functools import partial
from typing import Final, TypeAlias

from satchel.errors import DuplicateSkillError
from satchel.load import PlainBackend, packs_result
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Limits, Loaded, Rendered, Request
from satchel.protocols import TokenCounter
from satchel.runtime import Satchel
from satchel.skill_md import Profile
from satchel.text import printable
from satchel_compat._loader import SkillLoader
from satchel_compat._registry import default_registry
from satchel_compat._role import (
    DEFAULT_BUDGET_TOKENS,
    LegacyRenderer,
    Primary,
    ResolvedRolePrompt,
    check_role,
    is_role,
)
from satchel_compat._role_resolver import RoleResolver

# Resolvers that are remembered; most programs need one.
MAX_KEPT: Final = 16

_resolvers: Final[dict[tuple[object, ...], RoleResolver]] = {}
_lock: Final = threading.Lock()


def resolve_role_prompt(  # noqa: PLR0913 - one call, its options all by name
    role: str,
    templates_dir: str | os.PathLike[str],
    *,
    primary: Primary = "hint",
    context: Mapping[str, object] | None = None,
    budget_tokens: int | None = DEFAULT_BUDGET_TOKENS,
    counter: TokenCounter | None = None,
    find_tool: str | None = "find_skills",
    legacy_renderer: LegacyRenderer | None = None,
    shell: bool = False,
    include_plugins: bool = True,
    deny: Collection[str] = (),
    profile: Profile = "auto",
    limits: Limits = DEFAULT_LIMITS,
) -> ResolvedRolePrompt:
    """Return the prompt for an agent in this role: the first of these that exists.

    1. The pack ``skills/<role>/SKILL.md``, or a plug-in's of that name: with ``hint``
       a line that names the role and its `load_skill` call, above the index of all
       skills; with ``body`` the index, and the whole body below it.
    2. The legacy template ``roles/<role>/system_prompt.md``, rendered. It is
       deprecated: a `DeprecationWarning` says so, once for each role.
    3. ``You are a <role> specialist.``

    `satchel.load_skill` finds every skill of an index without the folder.

    A pack in error, a template behind a link or a renderer that failed is not used; it
    is a finding of the result and a line of the log. No part of an index depends on the
    body of any pack.

    Args:
        role: Its name: a-z, 0-9 and hyphens.
        templates_dir: The folder that holds ``skills`` and ``roles``.
        primary: What goes with the index.
        context: Values for placeholders and conditions of a legacy template.
        budget_tokens: Tokens of the index at most, in the stages of every catalog
            section; None is no limit. The role's line and a body are never cut.
        counter: Counts tokens; None is an estimate that says so.
        find_tool: The tool that a shortened index names; None for none.
        legacy_renderer: Renders in place of `satchel_compat.render_role_prompt`.
        shell: Whether the commands in a legacy template are run.
        include_plugins: Whether packs of installed plug-ins count.
        deny: Plug-ins to leave out: names of entry points or distributions.
        profile: What is accepted as a pack.
        limits: Bounds on packs and templates.

    Raises:
        InvalidRoleError: ``role`` is not the name of a role; no file was looked at.
        DuplicateSkillError: Two packs claim the role; names both, and a plug-in with
            the switch that leaves it out.
        ValueError: ``primary`` is neither of its two values.
    """
    check_role(role)
    resolver = _resolver(
        templates_dir,
        include_plugins=include_plugins,
        deny=deny,
        profile=profile,
        limits=limits,
    )
    return resolver.resolve(
        role,
        primary=primary,
        context=context,
        budget_tokens=budget_tokens,
        counter=counter,
        find_tool=find_tool,
        legacy_renderer=legacy_renderer,
        shell=shell,
    )


def build_index_only(
    templates_dir: str | os.PathLike[str],
    *,
    budget_tokens: int | None = DEFAULT_BUDGET_TOKENS,
    include_plugins: bool = True,
    deny: Collection[str] = (),
) -> Rendered:
    """Return the index of a role's prompt, without the role."""
    resolver = _resolver(templates_dir, include_plugins=include_plugins, deny=deny)
    return resolver.build_index_only(budget_tokens=budget_tokens)


def invalidate_cache() -> None:
    """Forget every folder that `resolve_role_prompt` has read."""
    with _lock:
        resolvers = list(_resolvers.values())
        _resolvers.clear()
    # Outside of the lock: closing sources may take long.
    for resolver in resolvers:
        resolver.invalidate_cache()


def skills_in(templates_dir: str | os.PathLike[str]) -> Satchel:
    """Return the packs of a folder, as its prompts name them."""
    place: str = os.path.abspath(os.fspath(templates_dir))  # noqa: PTH100 - as below
    with _lock:
        resolvers = [value for key, value in _resolvers.items() if key[0] == place]
    if resolvers:  # the latest one has the options of the last prompt
        return resolvers[-1].skills
    return _resolver(templates_dir, include_plugins=True, deny=()).skills


def skills_named(name: str) -> Satchel | None:
    """Return the packs of which a prompt of this process named one so; None if none."""
    with _lock:
        resolvers = [r for r in _resolvers.values() if r.named_packs]
    holders = [
        skills
        for skills in (resolver.skills for resolver in reversed(resolvers))
        if name in skills.catalog or skills.catalog.exclusion_of(name) is not None
    ]
    if not holders:
        return None
    first, *others = holders
    for other in others:
        # Equal copies of a pack in several folders are no conflict.
        if _pack(other, name) != _pack(first, name):
            folders = _folder_of(first, name), _folder_of(other, name)
            fix = "say which one load_skill is to look in, with templates_dir="
            raise DuplicateSkillError(name, *folders, fix)
    return first


def _pack(skills: Satchel, name: str) -> str:
    """Return the digest of a pack; empty if it is excluded."""
    return skills.digest(name) if name in skills.catalog else ""


def _folder_of(skills: Satchel, name: str) -> str:
    excluded = skills.catalog.exclusion_of(name)
    entry = excluded.descriptor if excluded is not None else skills.catalog.get(name)
    return entry.origin.location if entry is not None else ""


def _resolver(
    templates_dir: str | os.PathLike[str],
    *,
    include_plugins: bool,
    deny: Collection[str],
    profile: Profile = "auto",
    limits: Limits = DEFAULT_LIMITS,
) -> RoleResolver:
    """Return the resolver of a folder and these options, always the same one."""
    written = os.fspath(templates_dir)
    # Sorted: the same plug-ins in another order are the same options.
    options = (include_plugins, tuple(sorted(deny)), profile, limits)
    # Also as written: messages show its paths so.
    key = (os.path.abspath(written), written, *options)  # noqa: PTH100
    with _lock:
        resolver = _resolvers.pop(key, None) or RoleResolver(
            written,
            include_plugins=include_plugins,
            deny=deny,
            profile=profile,
            limits=limits,
        )
        _resolvers[key] = resolver  # move it to the end
        is_full = len(_resolvers) > MAX_KEPT
        gone = _resolvers.pop(next(iter(_resolvers))) if is_full else None
    if gone is not None:
        gone.invalidate_cache()  # its plug-ins may hold connections
    return resolver


SkillCollection: TypeAlias = Satchel | SkillLoader

_log: Final = logging.getLogger("satchel")


async def load_skill(
    name: str,
    reference: str | None = None,
    script: str | None = None,
    *,
    skills: SkillCollection | None = None,
    templates_dir: str | os.PathLike[str] | None = None,
) -> dict[str, object]:
    """Load a skill's body, or the text of one of its references or scripts.

    The result always has the keys ``name``, ``body``, ``available_references``,
    ``available_scripts``, ``reference_content``, ``script_content`` and ``error``; the
    body is empty if a file was asked for. A script is read, never run.

    Without ``skills`` and ``templates_dir``, it looks where
    `satchel.resolve_role_prompt` named the skill in this process, else in
    `satchel.default_registry`. If prompts of several folders named different packs so,
    the result is an error, and a line of the log says more.

    Args:
        name: The id, exactly as it is listed.
        reference: A listed reference, by its short name or path.
        script: A listed script, likewise.
        skills: Where to look: a `satchel.Satchel` or a `satchel.SkillLoader`.
        templates_dir: Where to look: the folder for `satchel.resolve_role_prompt`.
    """
    import asyncio

    def find_and_load() -> dict[str, object]:
        backend = _backend(name, skills, templates_dir)
        return packs_result(backend, name, reference, script)

    return await asyncio.to_thread(find_and_load)


def _backend(
    name: str,
    skills: SkillCollection | None,
    templates_dir: str | os.PathLike[str] | None,
) -> PlainBackend:
    try:
        collection = _skills_for(name, templates_dir) if skills is None else skills
    except DuplicateSkillError as error:
        # A model reads the result, and cannot do what would help.
        _log.warning("load_skill: %s", printable(str(error), keep=""))
        return PlainBackend(partial(_fail, error))

    def load(request: Request) -> Loaded:
        if isinstance(collection, SkillLoader):
            return collection.load(request)
        return collection.load(request.id, request.file, via=request.via)

    return PlainBackend(load, lambda: collection.catalog)


def _skills_for(name: str, templates_dir: str | os.PathLike[str] | None) -> Satchel:
    if templates_dir is not None:
        return skills_in(templates_dir)
    skills = skills_named(name) or default_registry()
    near = f"templates/skills/{name}/{SKILL_FILE}"
    is_near = is_role(name) and os.path.isfile(near)  # noqa: PTH113 - as text
    if is_near and name not in skills.catalog:
        _log.warning(
            "load_skill: %s is here, and no prompt of this process named its folder; "
            'pass templates_dir="templates"',
            printable(near, keep=""),
        )
    return skills


def _fail(error: DuplicateSkillError, _request: Request) -> Loaded:
    raise error
