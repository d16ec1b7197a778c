"""The format of a pack: bytes of a SKILL.md to a manifest and a body, and back.

What a sync of well-formed packs does not need is imported when it is first used.
"""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door
from satchel.skill_md._frontmatter import (
    HEADING as HEADING,
    MisspelledKey as MisspelledKey,
    Node as Node,
    Span as Span,
    YamlProblem as YamlProblem,
    YamlTree as YamlTree,
    find_span as find_span,
)
from satchel.skill_md._manifest import (
    NEEDS_FIELDS as NEEDS_FIELDS,
    SCHEMA_FIELD as SCHEMA_FIELD,
    SET_ASIDE as SET_ASIDE,
    SPEC_FIELDS as SPEC_FIELDS,
    boolean as boolean,
    decode_items as decode_items,
    nonstandard_fields as nonstandard_fields,
    skill_names as skill_names,
    split_tools as split_tools,
    text_list as text_list,
)
from satchel.skill_md._opening import (
    ANY_DEPTH as ANY_DEPTH,
    Frontmatter as Frontmatter,
    body_of,
    read_tree as read_tree,
)
from satchel.skill_md._parser import (
    Parsed,
    Profile as Profile,
    parse,
    read_frontmatter as read_frontmatter,
)

if TYPE_CHECKING:
    from satchel.skill_md._body import (
        before_frontmatter as before_frontmatter,
        tolerant_span as tolerant_span,
    )
    from satchel.skill_md._dialects import (
        CLIENT_FIELDS as CLIENT_FIELDS,
        encode_items as encode_items,
        from_spec,
        is_of_a_skill as is_of_a_skill,
        to_spec,
    )
    from satchel.skill_md._entries import (
        FrontmatterEntry as FrontmatterEntry,
        fold as fold,
        split_entries as split_entries,
    )
    from satchel.skill_md._layers import (
        Layer as Layer,
        MergedField as MergedField,
        merge_layers as merge_layers,
    )
    from satchel.skill_md._misspelled import (
        corrected_keys as corrected_keys,
        find_misspelled as find_misspelled,
        nearest_key as nearest_key,
    )
    from satchel.skill_md._named_files import (
        first_request as first_request,
        named_files as named_files,
        plain_path as plain_path,
        split_target as split_target,
    )
    from satchel.skill_md._profiles import (
        dialect_of_keys as dialect_of_keys,
        spec_name_violations as spec_name_violations,
        strict_name_violations as strict_name_violations,
    )
    from satchel.skill_md._repair import (
        RepairedFrontmatter as RepairedFrontmatter,
        repair_frontmatter as repair_frontmatter,
        without_controls as without_controls,
    )
    from satchel.skill_md._repairs import (
        FENCE_REPAIRS as FENCE_REPAIRS,
        YAML_REPAIRS as YAML_REPAIRS,
    )
    from satchel.skill_md._writer import (
        as_written as as_written,
        quoted as quoted,
        render_frontmatter,
        scalar as scalar,
    )
    from satchel.skill_md._written import (
        WrittenFrontmatter as WrittenFrontmatter,
        read_as_written as read_as_written,
    )

__all__ = ["Parsed", "body_of", "from_spec", "parse", "render_frontmatter", "to_spec"]

__getattr__ = lazy_door(
    __name__,
    {
        "_body": "before_frontmatter tolerant_span",
        "_dialects": "CLIENT_FIELDS encode_items from_spec is_of_a_skill to_spec",
        "_entries": "FrontmatterEntry fold split_entries",
        "_layers": "Layer MergedField merge_layers",
        "_misspelled": "corrected_keys find_misspelled nearest_key",
        "_named_files": "first_request named_files plain_path split_target",
        "_profiles": "dialect_of_keys spec_name_violations strict_name_violations",
        "_repair": "RepairedFrontmatter repair_frontmatter without_controls",
        "_repairs": "FENCE_REPAIRS YAML_REPAIRS",
        "_writer": "as_written quoted scalar render_frontmatter",
        "_written": "WrittenFrontmatter read_as_written",
    },
)
