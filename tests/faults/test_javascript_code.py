"""JavaScript of workflows runs in real workers, which continue after any kind of code."""

from tests.support.fleet import Fleet
from tests.support.hostile_code import require_unharmed

HOSTILE = {
    "loops": ("for (;;) { try { for (;;) {} } catch {} }", "TIMEOUT"),
    "hoards": ("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", "PERMANENT"),
    "recurses": ("return main() + 1", "PERMANENT"),
    "prints": ("for (;;) console.log('x'.repeat(1e5))", "PERMANENT"),
    "spies": ("return require('fs').readFileSync('/proc/self/environ')", "PERMANENT"),
}
GOOD = "async function main({ a }) { return (await a) * 2 }\n"


def test_hostile_javascript_fails_its_step_and_the_workers_go_on(fleet: Fleet) -> None:
    codes = {name: (f"function main() {{ {code} }}", end) for name, (code, end) in HOSTILE.items()}

    require_unharmed(fleet, "javascript.code", codes, GOOD)
