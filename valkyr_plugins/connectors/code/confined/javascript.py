"""Run a step's JavaScript in QuickJS, and report the result in JSON.

The code runs in the confined process, so its report is not trusted. QuickJS has no access to files,
network or modules; the confinement of the process is the second defence.

The extension of quickjs-ng is loaded from its file, because the sandbox has no installed packages.
"""

import json
import re
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any

from valkyr_plugins.connectors.code.confined.program import (
    MAX_FRAMES,
    MAX_RESULT_BYTES,
    MAX_TEXT,
    error_report,
)

NAME = "_quickjs"  # name of the extension's library, and of its initialization function
STACK_BYTES = 1024 * 1024  # stack of JavaScript, within the process's stack of 8 MiB
MEMORY = "the code needed more memory than its memoryMb: process less data, or raise memoryMb"
# QuickJS throws null if there is no memory for an error object.
NULL = f"the code threw null, or {MEMORY.removeprefix('the code ')}"
NO_STACK = "\nundefined"  # QuickJS appends this to a thrown value that is not an Error
NO_TEXT = "(Failed obtaining QuickJS error string"
# This script saves the functions that it needs before the code can replace them. QuickJS has no
# locale data and would silently ignore a locale, so the script rejects locales.
START = """(() => {
  const print = globalThis.__print, { parse, stringify } = JSON, { then } = Promise.prototype;
  delete globalThis.__print;
  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value}\\n${value.stack}`;
    try { return stringify(value) ?? String(value); } catch { return String(value); }
  };
  let left = 2 ** 21;
  const log = (...values) => {
    const line = values.map(shown).join(" ");
    left -= line.length + 1;
    if (left < 0) throw new Error("the code printed more than 2 MiB");
    print(line.isWellFormed() ? line : line.toWellFormed());
  };
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };
  const guard = (kind, name) => {
    const plain = kind.prototype[name];
    Object.defineProperty(kind.prototype, name, { configurable: true, writable: true,
      value(...given) {
        if (given.some((one) => one !== undefined)) {
          throw new Error(`${name} knows no languages and time zones here: format it yourself`);
        }
        return plain.call(this);
      } });
  };
  ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"].forEach((n) => guard(Date, n));
  guard(Number, "toLocaleString");
  let ended = false, value, failed = false;
  return [
    function __start(text) {
      if (typeof main !== "function") return false;
      const found = main(parse(text));
      if (found instanceof Promise) {
        then.call(found, (v) => { ended = true; value = v; },
                         (e) => { ended = failed = true; value = e; });
      } else { ended = true; value = found; }
      return true;
    },
    function __result() {
      if (failed) throw value;
      return ended ? stringify(value) ?? "null" : "";
    },
  ];
})()"""
OWN = ("__start", "__result")
_FRAME = re.compile(r"^\s+at (?:(?P<name>.*?) \()?<input>:(?P<line>\d+)(?::\d+)?\)?$", re.MULTILINE)
_STACK = re.compile(r"\n\s+at .*", re.DOTALL)


def loaded(engine: str) -> Any:
    """Return QuickJS, loaded from its file. Raises OSError."""
    loader = ExtensionFileLoader(NAME, engine)
    spec = spec_from_loader(NAME, loader)
    if spec is None:
        raise OSError(0, f"{engine} cannot be loaded")
    try:
        module = module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:  # the file is damaged, or is for another version of Python
        raise OSError(0, f"{engine} cannot be loaded: {error}") from error
    return module


def report(engine: Any, code: str, inputs: Any, memory_bytes: int) -> bytes:
    """Return `{"result": …}` of `main(inputs)`, or `{"error": …}`. Never raises."""
    try:
        return _run(engine, code, inputs, memory_bytes)
    except engine.StackOverflow as error:
        return _told(code, f"RangeError: it recursed too deeply{_stack(str(error))}")
    except engine.JSException as error:
        return _told(code, str(error))
    except MemoryError:
        return error_report("InternalError", MEMORY)
    except BaseException as error:
        return error_report(type(error).__name__, str(error)[:MAX_TEXT])


def _run(engine: Any, code: str, inputs: Any, memory_bytes: int) -> bytes:
    context = engine.Context()
    context.set_memory_limit(memory_bytes)
    context.set_max_stack_size(STACK_BYTES)
    context.add_callable("__print", _print)
    context.eval(f"globalThis.__own = {START}")
    start, result = (context.eval(f"__own[{place}]") for place in range(2))
    context.eval("delete globalThis.__own")
    context.eval(code)
    if not start(json.dumps(inputs)):
        hint = "write `function main(inputs) { … }`"
        return error_report("Missing", f"the code defines no function main: {hint}")
    while context.execute_pending_job():
        pass
    said = result()
    if not said:
        hint = "there are no timers and no network"
        return error_report("Result", f"the promise that main returned never settles: {hint}")
    return _result(said)


def _result(said: str) -> bytes:
    found = b'{"result": ' + said.encode() + b"}"
    if len(found) > MAX_RESULT_BYTES:
        kind = "the value that main returned is larger than 5 MiB: return less"
        return error_report("Result", kind)
    return found


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _stack(text: str) -> str:
    found = _STACK.search(text)
    return found.group() if found else ""


def _told(code: str, text: str) -> bytes:
    """Return the report of an exception: its kind, message and frames, the innermost last."""
    is_null = text.strip() == "null"
    message = _STACK.sub("", text.removesuffix(NO_STACK)).strip()
    if is_null or "out of memory" in message:
        return error_report("InternalError", NULL if is_null else MEMORY)
    if message.startswith(NO_TEXT):
        return error_report("Error", "the code threw a value that has no text: throw an Error")
    kind, sign, rest = message.partition(": ")
    if not sign or not kind.isidentifier():
        kind, rest = "Error", message
    lines = code.splitlines()
    frames = [
        _frame(match["name"], int(match["line"]), lines)
        for match in _FRAME.finditer(text)
        if match["name"] not in OWN
    ]
    return error_report(kind, rest[:MAX_TEXT], frames[:MAX_FRAMES][::-1])


def _frame(name: str | None, line: int, lines: list[str]) -> dict[str, Any]:
    shown = lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""
    return {"line": line, "in": name or "<code>", "code": shown}
