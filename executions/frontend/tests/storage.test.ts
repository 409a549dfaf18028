import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { setWidth, useView } from "../src/inspector/view";
import { keepPins } from "../src/running/keeping";
import { usePins } from "../src/running/pins";
import { keep, kept } from "../src/saving/kept";
import { toggle, useDrawers } from "../src/shell/drawers";
import { chooseTheme, chosenTheme } from "../src/shell/theme";

const NAMES = ["localStorage", "sessionStorage"] as const;

beforeEach(() => {
  vi.stubGlobal("document", { documentElement: { classList: { toggle: () => false } } });
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
});
afterEach(() => vi.unstubAllGlobals());

/** Stub both storages; `found` returns one, or raises an error. */
function stub(found: () => unknown): void {
  for (const name of NAMES) {
    vi.stubGlobal(name, undefined);
    Object.defineProperty(globalThis, name, { get: found, configurable: true });
  }
}

describe.each([
  [
    "blocked",
    () => {
      throw new DOMException("The operation is insecure.", "SecurityError");
    },
  ],
  [
    "full",
    () => ({
      getItem: () => null,
      setItem: () => {
        throw new DOMException("The quota is exceeded.", "QuotaExceededError");
      },
      removeItem: () => undefined,
    }),
  ],
])("with a storage that is %s", (_, found) => {
  beforeEach(() => stub(found));

  test("pins last until the page is closed", () => {
    const stop = keepPins("w");
    usePins.getState().pin("a", { output: 1 });
    expect(usePins.getState().pins.size).toBe(1);
    stop();
  });

  test("sides open, and the inspector gets another width", () => {
    const before = useDrawers.getState().columns.palette;
    toggle("palette", false);
    expect(useDrawers.getState().columns.palette).toBe(!before);
    setWidth(400);
    expect(useView.getState().width).toBe(400);
  });

  test("a theme is chosen", () => {
    chooseTheme("dark");
    expect(chosenTheme()).toBe("dark");
  });

  test("work that could not be stored is reported", () => {
    const document = { schema: "valkyr/1", name: "n", tasks: [] } as const;
    const work = { at: "", username: "u", etag: "", document: { ...document, tasks: [] } };
    expect(keep("w", work)).toBe(false);
    expect(kept("w")).toBeNull();
  });
});

test("a storage that works keeps the choices", () => {
  const stored = new Map<string, string>();
  stub(() => ({
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => stored.set(key, text),
  }));
  chooseTheme("light");
  expect(chosenTheme()).toBe("light");
  expect(stored.get("adminTheme")).toBe('"light"');
  stored.set("adminTheme", "unreadable");
  expect(chosenTheme()).toBe("auto");
});
