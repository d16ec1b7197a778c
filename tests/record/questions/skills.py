# The ready-made skills, and calls of users with arguments.
from datetime import UTC, datetime

from satchel import Run, Satchel, Skill
from satchel.skills import calc, clock

NOON = datetime(2026, 7, 1, 12, 0, 5, 77, tzinfo=UTC)
arithmetic = calc()
time = clock(lambda: NOON)
[arithmetic, arithmetic.instructions, time, time.instructions]
expressions = "2+3*4|(2+3)*4|8-3-2|7/2|-2+5|2*-3|--5|+5|2^10|2^3^2|-2^2|(-2)^2|2^-1|7%3|-7%3|7.5%2|1e3+1|2E-3|.5*2| 1 + 2 |0.1+0.2|1/3|1/3000|1000000/3|1/8|-0|0^0|0^5|1^(9^99)|2^300/2^299||1 +|(1|1)|1..2|5.|1 2|1,000|2* *3|2\u00d73|abc|__import__('os')|\u00b2|1/0|5%0|0^-1|2^0.5|2^99999|9^9^9|1e999|1e-999|" + "(" * 200 + "|" + "1+" * 2000 + "1|12345678901234567890*98765432109876543210|1/7^50|2**3|sqrt(2)|10!|1_000|0x10|\u0661+1|1e|1e+|(-8)^(1/3)"
each(lambda text: arithmetic.tools.call("calculate", {"expression": text}), *expressions.split("|"))
each(lambda given: arithmetic.tools.call("calculate", given), {}, {"expression": 1}, {"expr": "1"}, None)
each(lambda zone: time.tools.call("time_now", {"timezone": zone}), None, "UTC", "Europe/Paris", "Asia/Kolkata", "Mars/One", "", "europe/paris", "../etc", "UTC+2", 5)
each(lambda given: time.tools.call("time_convert", dict(zip(("time", "from_timezone", "to_timezone"), given))), ("2026-07-01T12:00:00", "UTC", "Europe/Paris"), ("2026-07-01T12:00:00+02:00", None, "UTC"), ("2026-07-01T12:00:00Z", "Europe/Paris", "UTC"), ("12:30", "Europe/Paris", "Asia/Tokyo"), ("2026-03-29T02:30:00", "Europe/Paris", "UTC"), ("2026-10-25T02:30:00", "Europe/Paris", "UTC"), ("noon", "UTC", "UTC"), ("", "UTC", "UTC"), ("2026-13-01T00:00", "UTC", "UTC"), ("2026-07-01", "UTC", "Asia/Tokyo"), ("2026-07-01T12:00:00", None, "UTC"), ("2026-07-01T12:00:00", "UTC", "Nowhere"), ("0001-01-01T00:00:00", "UTC", "America/New_York"), ("9999-12-31T23:59:59", "UTC", "Asia/Tokyo"), ("25:00", "UTC", "UTC"), ("2026-07-01T12:00:00.123456", "UTC", "UTC"), ("2026-07-01 12:00", "UTC", "Asia/Kolkata"))
time.tools.call("time_now", {})
each(clock, 3, None) and None
[tool.parameters for tool in (*arithmetic.tools, *time.tools)]

# A library as one skill of an agent; what users call.
pack("lib/review", head="arguments: file\nargument-hint: <file>\n", body="Review $ARGUMENTS.\nFirst $1, then $2, $0, $10, all ${1}, $$1, \\$1, $5.00, $1,000.\n")
pack("lib/secret", head="disable-model-invocation: true\n", body="Secret $ARGUMENTS\n")
pack("lib/inner", head="user-invocable: false\n")
pack("lib/named", head="arguments: [from, to]\n", body="Go from $from to $to; $ARGUMENTS[0], $ARGUMENTS[1], $ARGUMENTS[9], $1, {{from}}.\n")
pack("lib/plain", body="Nothing to fill in.\n", files={"references/a.md": "$1 $ARGUMENTS"})
pack("lib/env", body="At ${CLAUDE_SKILL_DIR} and ${CLAUDE_SESSION_ID}, !`echo hi`, @file.md, price $5 and $20, `$1`.\n\n```sh\necho $1 $ARGUMENTS\n```\n")
library = Satchel("lib", sinks=())
texts = ("", "src/app.py", "a b", '"a b" c', "'unclosed", "a\nb", "$1 $ARGUMENTS", "  x  ", "</skill_context>", "x" * 2_000, "\x1b[2J", "a b c d e f g h i j k")
for style in ("lean", "agent-skills", "packs", "references"):
    chat = library.session(style=style)
    for skill_id in ("review", "secret", "inner", "named", "plain", "env", "nope"):
        for text in texts if style == "lean" else texts[:3]:
            about(f"{style} {skill_id} {text!r:.30}")
            invoked = tried(chat.invoke, skill_id, text)
            print(invoked if isinstance(invoked, str) else invoked.text)
    print([each.id for each in chat.activations], chat.savings)
[(f.code, f.message) for f in library.findings]
whole = library.as_skill("all")
[whole.name, whole.instructions, [t.name for t in whole.tools]]
[whole.tools.call("load_skill", {"skill_id": "review"}, Run(agent="a")), whole.tools.call("load_skill", {"skill_id": "inner"}), whole.tools.call("load_skill", {})]
view = library.view(who={"user": "u"})
[view.catalog, view.invocable, view.prompt(), view.find("review"), view.tools()]
each(lambda id: view.descriptor(id), "review", "nope")
each(lambda id: view.load(id).text, "review", "secret", "inner", "nope")
each(lambda id: view.load(id, as_="look").text, "review", "secret", "nope")
each(lambda id: view.load(id, as_="copy").text, "review", "nope")
each(lambda id: view.resources(id), "plain", "nope")
each(lambda id: view.manifest(id), "review", "nope")
each(lambda id: view.invoke(id, "x y").text, "review", "inner", "nope")
[view.for_client("c") and 1, view.without_waiting() and 1]
library.close()
each(lambda call: tried(call), lambda: library.load("review"), lambda: library.sync(), lambda: library.prompt(), lambda: library.session().style)
