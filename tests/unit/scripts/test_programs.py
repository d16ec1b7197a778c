"""Programs that shell scripts call are known before the scripts run."""

import time
from pathlib import Path

import pytest

from satchel import Policy, Satchel, allow
from satchel.testing import write_pack
from satchel_scripts import Sandbox, Subprocess
from satchel_scripts._programs import lacking_programs

pytestmark = pytest.mark.row("N08")

CALLS = r"""#!/usr/bin/env bash
# gh1 is named here alone
set -euo pipefail
helper() { inner_1 "$@"; }
function other { inner_2; }
gh2 pr list | jq2 '.[] | it' && az2 login || exit 1
version="$(azd2 version 2>/dev/null)"
if ! command -v rg2 >/dev/null; then echo "run this first: npm2 install"; fi
for name in one two; do helper "$name"; done
cat <<'TEXT'
quoted_1 is no call
TEXT
case "$1" in start) go_2 ;; *) ./scripts/x.sh "$HOME/bin/y" ;; esac
LIST=(word_1
  word_2)
((total = first + second))
PROGRAM=terraform2
$PROGRAM apply
FOO=bar tf2 \
  plan_1
"""


def test_what_shell_scripts_call_is_looked_for() -> None:
    found = lacking_programs([CALLS.encode()], "/usr/bin:/bin", network=True)

    called = "az2 azd2 gh2 go_2 inner_1 inner_2 jq2 rg2 tf2"
    assert " ".join(found) == called


def test_what_one_script_defines_another_calls() -> None:
    scripts = [b"say_it() { echo it; }\n", b". ./a.sh\nsay_it twice\n"]

    assert lacking_programs(scripts, None, network=True) == ()


@pytest.mark.parametrize(
    ("network", "lacking"), [(True, ()), (False, ("the network (curl, npm)",))]
)
def test_what_asks_a_network_that_is_not_there(
    tmp_path: Path, network: bool, lacking: tuple[str, ...]
) -> None:
    for name in ("curl", "npm"):
        (tmp_path / name).write_text("", "utf-8")
        (tmp_path / name).chmod(0o755)
    script = b"npm install\ncurl -O https://example.com/x\ncd x\n"

    assert lacking_programs([script], str(tmp_path), network=network) == lacking


def test_it_is_said_as_the_skill_is_loaded(tmp_path: Path) -> None:
    files = {"scripts/go.sh": "gh8841 pr list\nnpm8841 ci\n"}
    write_pack(tmp_path, "notes", "Use for notes.", files=files)
    for runner in (Subprocess(), Sandbox()):
        policy = Policy(allow("notes", "script"))
        skills = Satchel(tmp_path, policy=policy, runner=runner)
        text = skills.session().call("load_skill", {"skill_id": "notes"})

        assert "Its scripts need gh8841, npm8841, which is not there" in str(text)


@pytest.mark.parametrize(
    "script",
    [b"<<A\n" * 65_536, b"${" * 131_072, b"$(" * 131_072, bytes(range(256)) * 1_024],
    ids=["here-documents", "expansions", "substitutions", "bytes"],
)
def test_a_hostile_script_is_soon_read(script: bytes) -> None:
    began = time.process_time()

    assert lacking_programs([script] * 4, None, network=True) == ()

    assert time.process_time() - began < 10
