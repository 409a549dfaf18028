"""JavaScript in workflows, in each sandbox: its features, its limits, and attempts to leave it."""

from collections.abc import Callable
from typing import Any

import pytest

from executions.definition.catalog import catalog
from runners.failures.classification import Failure
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.bad_inputs import check_row, rows
from valkyr_plugins.connectors.code import javascript_code
from valkyr_plugins.connectors.code.confined import javascript as confined_javascript

GLOBALS = """
function main() {
  const outside = ["require", "process", "fetch", "XMLHttpRequest", "WebSocket", "setTimeout",
    "setInterval", "Worker", "WebAssembly", "std", "os", "bjson", "scriptArgs", "print",
    "__print", "__own", "Deno", "Bun", "load", "read", "Intl", "__loadScript"];
  const root = new Function("return this")();
  return outside.filter((name) => name in root || name in globalThis);
}
"""


@pytest.fixture
def code_module() -> str:
    return "javascript.code"


def test_main_gets_the_inputs_and_its_result_comes_back(run_code: Callable[..., Any]) -> None:
    code = "function main({ prices }) {\n  return prices.reduce((a, b) => a + b, 0);\n}\n"

    assert run_code(code, {"prices": [1, 2, 6]}) == 9


def test_an_arrow_and_an_async_function_can_be_main(run_code: Callable[..., Any]) -> None:
    assert run_code("const main = (inputs) => inputs?.a ?? 7;", {}) == 7
    code = """
const one = async (n) => n + 1;
async function main({ n }) {
  const all = await Promise.all([one(n), one(n + 1)]);
  for await (const more of [one(9)]) all.push(more);
  return all;
}
"""
    assert run_code(code, {"n": 1}) == [2, 3, 10]


def test_today_s_language_is_understood(run_code: Callable[..., Any]) -> None:
    code = r"""
class Sum { #n = 0; static of(...all) { return all.flat().reduce((s, n) => s.add(n), new Sum()); }
            add(n) { this.#n += n; return this; } get n() { return this.#n; } }
function* pairs(o) { yield* Object.entries(o); }
function main({ text, day }) {
  const { groups: { y } } = /(?<y>\d{4})-\d\d/u.exec(day);
  const { a, ...rest } = Object.fromEntries([...pairs({ a: 1, b: 2 })]);
  return { y, rest, sum: Sum.of(1, [2, 3]).n, last: [1, 2].at(-1), big: String(2n ** 64n),
           words: [...text.matchAll(/\p{L}+/gu)].map(([w]) => w), all: text.replaceAll("a", "b"),
           sorted: [3, 1, 2].toSorted(), set: [...new Set([1, 1])],
           date: new Date(day).toISOString(),
           hour: new Date("2024-01-02T03:04:05Z").getHours(), look: /(?<=€)\d+/.exec("€42")[0] };
}
"""
    assert run_code(code, {"text": "äa b", "day": "2024-02-03"}) == {
        "y": "2024", "rest": {"b": 2}, "sum": 6, "last": 2, "big": "18446744073709551616",
        "words": ["äa", "b"], "all": "äb b", "sorted": [1, 2, 3], "set": [1],
        "date": "2024-02-03T00:00:00.000Z", "hour": 3, "look": "42",
    }  # fmt: skip


def test_text_of_any_alphabet_goes_there_and_back(run_code: Callable[..., Any]) -> None:
    text = "Grüße, 世界 \U0001f600 \ud800\u2028"

    assert run_code("function main(i) { return i + 'ß' }", text) == f"{text}ß"


def test_a_result_is_what_json_can_say(run_code: Callable[..., Any]) -> None:
    assert run_code("function main() {}") is None
    code = "function main() { return { a: undefined, b: NaN, c: new Date(0), d: [() => 1] } }"
    assert run_code(code) == {"b": None, "c": "1970-01-01T00:00:00.000Z", "d": [None]}


def test_the_console_is_the_run_s_log(run_code: Callable[..., Any], step_context: Context) -> None:
    run_code(
        "console.log('one', { a: [1] });\n"
        "function main() { console.error(undefined, 2n, '\\ud800') }"
    )

    entries = [entry["message"] for entry in step_context.log.entries]
    assert entries == ['one {"a":[1]}', "undefined 2 \ufffd"]


def test_an_exception_is_reported_with_its_lines(fail_code: Callable[..., Failure]) -> None:
    failure = fail_code(
        "function f(x) {\n  throw new RangeError('no: ' + x);\n}\nfunction main() {\n  f(1);\n}"
    )

    assert failure.error_type is ErrorType.PERMANENT
    assert failure.message == "RangeError: no: 1 (line 2, in f)"
    assert [frame["line"] for frame in failure.details["frames"]] == [5, 2]
    assert failure.details["frames"][1]["code"] == "throw new RangeError('no: ' + x);"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("throw 'a text'", "Error: a text"),
        ("throw { code: 1 }", "Error: "),
        ("throw null", "null"),
        ("await Promise.reject(new TypeError('late'))", "TypeError: late"),
        ("const x = {}; x.x = x; return x", "TypeError: circular reference"),
        ("while (true) console.log('x'.repeat(9999))", "more than 2 MiB"),
        ("let s = 'x'; for (;;) s += s", "string too long"),
        ("return 'x'.padEnd(2 ** 29)", "memoryMb"),
        ("return new Uint8Array(2 ** 30).length", "memoryMb"),
        ("let a = []; for (let i = 0; i < 1e7; i++) a = [a]; return a", "memoryMb"),
        ("const f = () => [1, 2].sort(f); f()", "recursed too deeply"),
        ("return JSON.parse('['.repeat(1e6))", "Error"),
        ("let n = 3n; for (;;) n *= n", "Error: "),
        ("const fs = await import('fs')", "Error: could not load module"),
        ("const os = await import('os')", "Error: could not load module"),
        ("Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)", "cannot block"),
        ("new Date().toLocaleDateString('de-DE')", "knows no languages"),
    ],
)
def test_code_that_fails(fail_code: Callable[..., Failure], code: str, says: str) -> None:
    failure = fail_code(f"async function main() {{ {code} }}", seconds=20)

    assert says in failure.message
    assert failure.error_type is ErrorType.PERMANENT


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("throw 'a text'", "Error: a text"),
        ("throw 'null'", "Error: null"),
        ("throw undefined", "Error: undefined"),
        ("throw Symbol()", "Error: the code threw a value that has no text: throw an Error"),
    ],
)
def test_a_thrown_value_that_is_not_an_error(
    fail_code: Callable[..., Failure], code: str, message: str
) -> None:
    assert fail_code(f"function main() {{ {code} }}").message == message
    assert fail_code(f"async function main() {{ {code} }}").message == message


@pytest.mark.parametrize(
    "code",
    [
        "for (;;) {}",
        "for (;;) { try { for (;;) {} } catch {} finally { continue } }",
        "return /^(a+)+$/.test('a'.repeat(50) + 'b')",
        "[2, 1].sort(() => { for (;;) {} })",
        "return { toJSON() { for (;;) {} } }",
        "const again = () => { Promise.resolve().then(again) }; again(); return new Promise(again)",
    ],
)
def test_code_without_end_is_ended(fail_code: Callable[..., Failure], code: str) -> None:
    failure = fail_code(f"function main() {{ {code} }}", seconds=1)

    assert "did not finish within 1 s" in failure.message
    assert failure.error_type is ErrorType.TIMEOUT


def test_nothing_of_the_system_has_a_name(run_code: Callable[..., Any]) -> None:
    assert run_code(GLOBALS) == []


def test_what_it_replaces_does_not_reach_its_report(run_code: Callable[..., Any]) -> None:
    code = """
JSON.stringify = () => '{"refused": "forged"}';
JSON.parse = () => "forged";
Promise.prototype.then = () => {};
console.log = () => { throw new Error("x") };
async function main(inputs) { return inputs }
"""
    assert run_code(code, {"a": 1}) == {"a": 1}


def test_a_run_does_not_change_the_objects_of_the_next(run_code: Callable[..., Any]) -> None:
    run_code("function main() { Object.prototype.seen = 1; Array.prototype.map = null; kept = 2 }")

    code = "function main() { return [{}.seen ?? null, typeof kept, [1].map((x) => x)] }"
    assert run_code(code) == [None, "undefined", [1]]


def test_inputs_cannot_become_code(run_code: Callable[..., Any]) -> None:
    inputs = {"__proto__": {"polluted": 1}, "a": '"); throw 1; ("', "constructor": 2}

    code = "function main(i) { return [{}.polluted ?? null, i.a, Object.keys(i).length] }"
    assert run_code(code, inputs) == [None, inputs["a"], 3]


def test_a_larger_limit_of_memory_is_given(run_code: Callable[..., Any]) -> None:
    code = "function main() { return new Uint8Array(200 * 2 ** 20).fill(1).length }"

    assert run_code(code, memoryMb=256) == 200 * 2**20


def test_a_missing_engine_says_what_to_install(
    fail_code: Callable[..., Failure], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(javascript_code, "ENGINE", "_quickjs_that_is_missing")

    assert "install valkyr[javascript]" in fail_code("function main() {}").message


def test_it_is_off_unless_an_administrator_allows_it(
    fail_code: Callable[..., Failure], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_JAVASCRIPT_CODE", "0")
    failure = fail_code("function main() {}")
    problems = catalog()["javascript.code"].check({"code": "function main() {}"})

    assert "VALKYR_JAVASCRIPT_CODE=1" in failure.message
    assert [one.code for one in problems] == ["javascript_code_off"]


def test_a_template_in_the_code_is_refused() -> None:
    [problem] = catalog()["javascript.code"].check({"code": "const a = '{{ input.a }}'"})

    assert problem.code == "template_not_allowed"


@pytest.mark.usefixtures("code_sandbox")
@pytest.mark.parametrize(("module_type", "bad"), rows(types=["javascript.code"]))
def test_a_bad_input_is_refused(module_type: str, bad: Any, step_context: Context) -> None:
    check_row(module_type, bad, step_context)


def test_a_damaged_engine_is_refused_before_any_code_runs(tmp_path):
    engine = tmp_path / "quickjs.so"
    engine.write_bytes(b"not a library")

    with pytest.raises(OSError, match=r"quickjs\.so cannot be loaded"):
        confined_javascript.loaded(str(engine))
