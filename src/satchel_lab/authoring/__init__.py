"""Making packs, changing them, and moving them between formats."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_lab.authoring._convert._engine import (
        ConvertOptions as ConvertOptions,
        convert as convert,
    )
    from satchel_lab.authoring._convert._values import (
        TARGETS as TARGETS,
        Conversion as Conversion,
        ConversionResult as ConversionResult,
        ConvertTarget as ConvertTarget,
        Dialect as Dialect,
    )
    from satchel_lab.authoring._diff import (
        FieldChange as FieldChange,
        FileChange as FileChange,
        PackDiff as PackDiff,
        PackSide as PackSide,
        compare_places as compare_places,
    )
    from satchel_lab.authoring._new import (
        NewPackRequest as NewPackRequest,
        make_pack as make_pack,
        name_problem as name_problem,
        role_names as role_names,
    )
    from satchel_lab.authoring._pack import (
        SUFFIX as SUFFIX,
        pack_skill as pack_skill,
    )
    from satchel_lab.authoring._packs import new_folder as new_folder
    from satchel_lab.authoring._retirement import retire as retire
    from satchel_lab.authoring._role_format import (
        COMMAND as COMMAND,
        SYSTEM_PROMPT as SYSTEM_PROMPT,
        choose_branches as choose_branches,
        fill as fill,
        role_problem as role_problem,
        to_text as to_text,
    )

__getattr__ = lazy_door(
    __name__,
    {
        "_convert._engine": "ConvertOptions convert",
        "_convert._values": "TARGETS Conversion ConversionResult ConvertTarget Dialect",
        "_diff": "FieldChange FileChange PackDiff PackSide compare_places",
        "_new": "NewPackRequest make_pack name_problem role_names",
        "_pack": "SUFFIX pack_skill",
        "_retirement": "retire",
        "_packs": "new_folder",
        "_role_format": "COMMAND SYSTEM_PROMPT choose_branches fill role_problem "
        "to_text",
    },
)
