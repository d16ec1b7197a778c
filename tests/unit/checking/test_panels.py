"""What the laboratory adds to a skill's page: values, each with a level."""

from pathlib import Path

from satchel import Satchel
from satchel.products import PANELS as TABLE
from satchel.testing import write_pack
from satchel_lab.clients import loaders
from satchel_lab.panels import PANELS


def test_each_panel_of_the_table_is_there() -> None:
    ours = {key for key, (_, module) in TABLE.items() if module == "satchel_lab.panels"}

    assert ours == PANELS.keys()


def test_check_and_clients_say_what_is_wrong_and_what_to_do(tmp_path: Path) -> None:
    write_pack(tmp_path, "good", "Use for forms that have to be filled in.", "Do it.\n")
    bad = "Use <b>it</b> for forms that have to be filled in."
    write_pack(tmp_path, "bad", bad, "See [it](gone.md).\n")
    skills = Satchel(tmp_path, sinks=())
    good, bad_one = (skills.catalog.get(name) for name in ("good", "bad"))
    assert good is not None
    assert bad_one is not None

    check, clients = (PANELS[key] for key in ("check", "clients"))
    fine = check.rows(good, skills.catalog, skills.limits)
    rows = check.rows(bad_one, skills.catalog, skills.limits)
    shown = clients.rows(bad_one, skills.catalog, skills.limits)

    assert [row.level for row in fine] == [""]
    assert any(row.level and "SKILL.md" in row.name and row.fix for row in rows)
    assert not any(str(tmp_path) in part for row in rows for part in row)
    assert len(shown) == len(loaders())
    assert any(row.level == "error" and row.fix for row in shown)
