"""Making packs, changing them, and moving them between formats."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.authoring._convert._engine import ConvertOptions, convert
    from satchel.authoring._convert._targets import (
        TARGETS as TARGETS,
        ConvertTarget as ConvertTarget,
    )
    from satchel.authoring._convert._values import (
        Conversion,
        ConversionResult as ConversionResult,
        Dialect as Dialect,
    )
    from satchel.authoring._diff import (
        FieldChange as FieldChange,
        FileChange as FileChange,
        PackDiff,
        PackSide as PackSide,
        compare_places,
    )
    from satchel.authoring._new import (
        NewPackRequest,
        make_pack,
        name_problem as name_problem,
        role_names as role_names,
    )
    from satchel.authoring._pack import SUFFIX as SUFFIX, PackedSkill, pack_skill
    from satchel.authoring._retirement import retire
    from satchel.authoring._writer import new_folder as new_folder

__all__ = [
    "Conversion",
    "ConvertOptions",
    "NewPackRequest",
    "PackDiff",
    "PackedSkill",
    "compare_places",
    "convert",
    "make_pack",
    "pack_skill",
    "retire",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_convert._engine": "ConvertOptions convert",
        "_convert._targets": "ConvertTarget TARGETS",
        "_convert._values": "Conversion Dialect ConversionResult",
        "_diff": "FieldChange FileChange PackDiff PackSide compare_places",
        "_new": "NewPackRequest make_pack name_problem role_names",
        "_pack": "PackedSkill SUFFIX pack_skill",
        "_retirement": "retire",
        "_writer": "new_folder",
    },
)
