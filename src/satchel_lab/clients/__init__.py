"""What clients and other loaders do with a pack: where they look, what they read."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_lab.clients._listing import (
        LISTING_STATES as LISTING_STATES,
        WINDOWS as WINDOWS,
        ClientListing as ClientListing,
        ListingRule as ListingRule,
        SkillListing as SkillListing,
        listing_rules as listing_rules,
        predict_listing as predict_listing,
        read_skill as read_skill,
        unknown_rule as unknown_rule,
    )
    from satchel_lab.clients._listing_rules import LibrarySkill as LibrarySkill
    from satchel_lab.clients._loaders import (
        VERDICTS as VERDICTS,
        Loader as Loader,
        LoaderVerdict as LoaderVerdict,
        Prediction as Prediction,
        ShownEntry as ShownEntry,
        UnknownLoaderError as UnknownLoaderError,
        advice_for as advice_for,
        choose_loaders as choose_loaders,
        loaders as loaders,
        predict as predict,
        read_documented as read_documented,
        read_measured as read_measured,
        worst_verdict as worst_verdict,
    )
    from satchel_lab.clients._pack import (
        Candidate as Candidate,
        PackReader as PackReader,
    )
    from satchel_lab.clients._properties import PROPERTIES as PROPERTIES

__getattr__ = lazy_door(
    __name__,
    {
        "_listing": "LISTING_STATES ClientListing ListingRule "
        "SkillListing WINDOWS listing_rules predict_listing read_skill unknown_rule",
        "_listing_rules": "LibrarySkill",
        "_loaders": "Loader LoaderVerdict Prediction ShownEntry UnknownLoaderError "
        "VERDICTS advice_for choose_loaders loaders predict read_documented "
        "read_measured worst_verdict",
        "_pack": "Candidate PackReader",
        "_properties": "PROPERTIES",
    },
)
