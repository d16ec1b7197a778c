"""Making packs, changing them, and moving them between formats."""

from typing import TYPE_CHECKING, Final

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

_LAZY: Final = {
    "ConvertOptions": "satchel.authoring._convert._engine",
    "convert": "satchel.authoring._convert._engine",
    "ConvertTarget": "satchel.authoring._convert._targets",
    "TARGETS": "satchel.authoring._convert._targets",
    "Conversion": "satchel.authoring._convert._values",
    "Dialect": "satchel.authoring._convert._values",
    "ConversionResult": "satchel.authoring._convert._values",
    "FieldChange": "satchel.authoring._diff",
    "FileChange": "satchel.authoring._diff",
    "PackDiff": "satchel.authoring._diff",
    "PackSide": "satchel.authoring._diff",
    "compare_places": "satchel.authoring._diff",
    "NewPackRequest": "satchel.authoring._new",
    "make_pack": "satchel.authoring._new",
    "name_problem": "satchel.authoring._new",
    "role_names": "satchel.authoring._new",
    "PackedSkill": "satchel.authoring._pack",
    "SUFFIX": "satchel.authoring._pack",
    "pack_skill": "satchel.authoring._pack",
    "retire": "satchel.authoring._retirement",
    "new_folder": "satchel.authoring._writer",
}

__getattr__ = lazy_door(__name__, _LAZY)
