import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, describe, expect, it } from "vitest";
import { NoteTools } from "../../src/canvas/NoteNode";
import { SPOKEN } from "../../src/canvas/spoken";
import { took } from "../../src/monitor/times";
import { de } from "../../src/words/de";
import { en } from "../../src/words/en";
import { es } from "../../src/words/es";
import { numberText } from "../../src/words/formats";
import { speak, spoken } from "../../src/words/language";
import { t, told } from "../../src/words/t";
import type { Differing, Message, Translation } from "../../src/words/types";

afterEach(() => speak("en"));

const inEvery = async (say: () => string): Promise<string[]> => {
  const said = [];
  for (const tag of ["en", "de", "es"]) {
    await speak(tag);
    said.push(say());
  }
  return said;
};

describe("a message", () => {
  it("is told in the language of the page", async () => {
    expect(await inEvery(() => t("shared.close"))).toEqual(["Close", "Schließen", "Cerrar"]);
  });

  it("has its variables in the places of the language", async () => {
    expect(await inEvery(() => t("nodelist.moveTo", { task: "pay" }))).toEqual([
      "Move pay to",
      "pay verschieben nach",
      "Mover pay a",
    ]);
  });

  it("has a form for each number that the language tells apart", async () => {
    const counts = (): string => [0, 1, 2].map((count) => t("canvas.tasks", { count })).join(", ");
    expect(await inEvery(counts)).toEqual([
      "0 tasks, 1 task, 2 tasks",
      "0 Aufgaben, 1 Aufgabe, 2 Aufgaben",
      "0 tareas, 1 tarea, 2 tareas",
    ]);
    // Spanish has a plural form for millions; without a text for it, the form `other` is used.
    expect(t("canvas.tasks", { count: 1_000_000 })).toBe("1000000 tareas");
  });

  it("keeps what is no variable, and values with braces", () => {
    expect(t("problems.isNotClosedExpectedAfter")).toBe(
      "{{ is not closed; expected }} after the expression",
    );
    expect(t("inspector.insertExpression", { expression: "{{ name }}" })).toBe("Insert {{ name }}");
  });

  it("gives its parts, for elements in its places", () => {
    expect(told("palette.into", { place: 7 })).toEqual(["Into ", 7, ""]);
  });
});

describe("the language", () => {
  it("is that of the tag, whatever its region and case", async () => {
    for (const tag of ["de", "de-AT", "DE", "de_ch"]) {
      await speak(tag);
      expect(t("shared.close")).toBe("Schließen");
    }
  });

  it("is English where it is not known", async () => {
    for (const tag of ["", "fr", "no language", "constructor", "*"]) {
      await speak("de");
      await speak(tag);
      expect([spoken.locale, t("shared.close")]).toEqual(["en", "Close"]);
    }
  });

  it("writes numbers by the region, too", async () => {
    const said = [];
    for (const tag of ["en", "de", "en-IN"]) {
      await speak(tag);
      said.push(numberText(1234567.5));
    }
    expect(said).toEqual(["1,234,567.5", "1.234.567,5", "12,34,567.5"]);
    await speak("de");
    expect(took(2410)).toBe("2,41\u00a0s");
  });
});

describe("the canvas", () => {
  it("says in the language where a task was moved", async () => {
    const moved = (direction: string): string =>
      SPOKEN["node.a11yDescription.ariaLiveMessage"]({ direction, x: 1, y: 2 });
    expect(await inEvery(() => moved("up"))).toEqual([
      "Moved selected node up. New position, x: 1, y: 2",
      "Ausgewählter Knoten verschoben (nach oben). Neue Position, x: 1, y: 2",
      "Nodo seleccionado movido (hacia arriba). Nueva posición, x: 1, y: 2",
    ]);
    await speak("de");
    expect(["down", "left", "right"].map((one) => moved(one).match(/\((.*)\)/)?.[1])).toEqual([
      "nach unten",
      "nach links",
      "nach rechts",
    ]);
  });

  it("names the colours of notes in the language", async () => {
    const note = { id: "n", x: 0, y: 0, w: 140, h: 70, text: "" };
    const tools = () => createElement(NoteTools, { data: { body: [], note }, onWrite: () => {} });
    const names = () =>
      [...renderToString(tools()).matchAll(/aria-label="([^"]*)" title="\1" aria-pressed/g)]
        .map(([, name]) => name)
        .join(", ");
    expect(await inEvery(names)).toEqual([
      "Yellow, Blue, Green, Pink, Grey",
      "Gelb, Blau, Grün, Rosa, Grau",
      "Amarillo, Azul, Verde, Rosa, Gris",
    ]);
  });
});

const variables = (message: Message): string[] => {
  const texts = typeof message === "string" ? [message] : Object.values(message);
  return [...new Set(texts.flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();
};

describe.each([
  ["German", de],
  ["Spanish", es],
])("the %s catalogue", (_, messages: Translation) => {
  it("has every message of the English and its variables", () => {
    expect(Object.keys(messages).sort()).toEqual(Object.keys(en).sort());
    for (const [key, message] of Object.entries(en)) {
      expect([key, ...variables(messages[key as keyof typeof en])]).toEqual([
        key,
        ...variables(message),
      ]);
    }
  });

  it("has no text that is empty or not trimmed", () => {
    const texts = Object.values(messages).flatMap((one) =>
      typeof one === "string" ? [one] : Object.values(one),
    );
    expect(texts.filter((text) => text === "" || text !== text.trim())).toEqual([]);
  });
});

describe("the compiler", () => {
  it("finds a key, a variable and a translation that is wrong", () => {
    const lacking: Differing<Omit<typeof de, "canvas.copied"> & { "canvas.copied": "Kopiert." }> =
      "canvas.copied";
    const mistakes = (): void => {
      // @ts-expect-error there is no such key
      t("shared.closing");
      // @ts-expect-error the variable is missing
      t("nodelist.moveTo");
      // @ts-expect-error there is no such variable
      t("nodelist.moveTo", { task: "pay", to: "here" });
      // @ts-expect-error a count is a number
      t("canvas.tasks", { count: "two" });
    };
    expect([lacking, typeof mistakes]).toEqual(["canvas.copied", "function"]);
  });
});
