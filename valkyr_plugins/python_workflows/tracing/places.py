"""The position of a call in the user's code: its line for messages, its variable for a task's id.

The variable is read from the byte code after the call. This needs no source, and costs one pass per
function. Without a variable, a task is named after its step.
"""

import dis
import sys
from functools import lru_cache
from types import CodeType, FrameType

_OWN = ("valkyr_plugins.python_workflows", "runners.modules.step_calls", "contextlib")
_IDENTITY = ("IS_OP", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")


class TracingError(TypeError):
    """A graph cannot express a workflow's function; the message says what to write."""

    def __init__(self, message: str, *, at: str = "") -> None:
        super().__init__(f"{at or here()}: {message}")


def here() -> str:
    """Return the position of the call in the user's code, as `file:line`."""
    frame = user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def line() -> int:
    """Return the line number of the call in the user's code."""
    return user_frame().f_lineno


def variable() -> str:
    """Return the name of the variable to which the call is assigned; "" if there is none."""
    frame = user_frame()
    return assigned(frame.f_code).get(frame.f_lasti, "")


def user_frame() -> FrameType:
    """Return the innermost frame that does not belong to the tracer."""
    frame: FrameType = sys._getframe(1)  # noqa: SLF001 - the only way to the caller that costs nothing
    while frame.f_back is not None and _is_own(frame):
        frame = frame.f_back
    return frame


def _is_own(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_OWN)


@lru_cache(maxsize=4096)
def assigned(code: CodeType) -> dict[int, str]:
    """Return the variable that stores each call's value, keyed by the offsets of the call.

    During the call, a frame's offset may be at the call or at one of the cache entries after it.
    """
    found: dict[int, str] = {}
    call = -1
    for one in dis.get_instructions(code):
        if one.opname.startswith("CALL"):
            call = one.offset
        elif one.opname.startswith("STORE_") and call >= 0 and "SUBSCR" not in one.opname:
            name = one.argval[0] if isinstance(one.argval, tuple) else one.argval
            found |= dict.fromkeys(range(call, one.offset, 2), str(name))
            call = -1
        elif one.opname not in ("CACHE", "BEFORE_WITH", "EXTENDED_ARG"):
            call = -1
    return found


def identity_test(code: CodeType) -> int | None:
    """Return the line of an `is` in a function or its inner functions; None if there is none.

    No object can overload `is`, so `handle is None` would silently be False.
    """
    for one in dis.get_instructions(code):
        if one.opname.replace("FORWARD_", "").replace("BACKWARD_", "") in _IDENTITY:
            return one.positions.lineno if one.positions else code.co_firstlineno
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return next((found for part in inner if (found := identity_test(part)) is not None), None)
