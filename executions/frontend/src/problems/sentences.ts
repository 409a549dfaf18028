/**
 * Converts a validator's errors to messages: one for each place, without errors of other branches.
 */
import type { OutputUnit } from "@cfworker/json-schema";
import { groupedBy } from "../document/grouping";
import type { Json } from "../document/types";
import { t } from "../words/t";
import type { Pointer } from "./found";

/** A problem inside the checked value. */
export interface Mistake {
  pointer: Pointer;
  code: string;
  message: string;
}

/** Keywords whose errors only say that a part is invalid. */
const AROUND = new Set([
  "$ref",
  "additionalProperties",
  "allOf",
  "dependentSchemas",
  "else",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "then",
]);
const WORDS: Record<string, string> = {
  string: t("problems.aText"),
  number: t("problems.aNumber"),
  integer: t("problems.aWholeNumber"),
  boolean: t("problems.trueOrFalse"),
  object: t("problems.anObject"),
  array: t("problems.aList"),
  null: "null",
};
const LONGEST = 60;
const LESS = " is less than ";

/** Return the problems of the errors; errors of parents precede those of children. */
export function mistakes(units: readonly OutputUnit[], value: Json): Mistake[] {
  const told: Mistake[] = [];
  let rest = units;
  for (let unit = rest[0]; unit; unit = rest[0]) {
    rest = rest.slice(1);
    if (unit.keyword === "anyOf" || unit.keyword === "oneOf") {
      const branches = below(rest, unit);
      rest = rest.filter((one) => !branches.includes(one));
      told.push(...ofBranches(unit, branches, value));
    } else if (!AROUND.has(unit.keyword)) told.push(ofOne(unit, value));
  }
  return told;
}

const below = (units: readonly OutputUnit[], around: OutputUnit): OutputUnit[] =>
  units.filter((unit) => unit.keywordLocation.startsWith(`${around.keywordLocation}/`));

/** Return the errors of the branch with the right type; without one, list the expected types. */
function ofBranches(around: OutputUnit, units: OutputUnit[], value: Json): Mistake[] {
  const start = around.keywordLocation.length + 1;
  const byBranch = groupedBy(units, (unit) => unit.keywordLocation.slice(start).split("/")[0]);
  const kinds: string[] = [];
  for (const branch of byBranch.values()) {
    const kind = branch.find(
      (unit) => unit.keyword === "type" && unit.instanceLocation === around.instanceLocation,
    );
    if (!kind) return mistakes(branch, value);
    kinds.push(...expectedKinds(kind));
  }
  const pointer = pointerOf(around.instanceLocation);
  const names = [...new Set(kinds.map((kind) => WORDS[kind] ?? kind))];
  if (names.length === 0) return [{ pointer, code: "type", message: around.error }];
  const message = t("problems.expectedFound", {
    kinds: anyOf(names),
    found: shown(at(value, pointer)),
  });
  return [{ pointer, code: "type", message }];
}

function ofOne(unit: OutputUnit, value: Json): Mistake {
  const pointer = pointerOf(unit.instanceLocation);
  const here = shown(at(value, pointer));
  const quoted = /"([^"]*)"/.exec(unit.error)?.[1] ?? "";
  switch (unit.keyword) {
    case "false":
      return {
        pointer,
        code: "unknown_key",
        message: t("problems.thereIsNoKeyHere", { key: pointer.at(-1) ?? "" }),
      };
    case "required":
      return {
        pointer: [...pointer, quoted],
        code: "required",
        message: t("problems.thisIsRequired"),
      };
    case "type": {
      const kinds = expectedKinds(unit).map((kind) => WORDS[kind] ?? kind);
      return {
        pointer,
        code: "type",
        message: t("problems.expectedFound", { kinds: anyOf(kinds), found: here }),
      };
    }
    case "enum":
    case "const":
      return {
        pointer,
        code: "value",
        message: t("problems.expectedFound", { kinds: wanted(unit), found: here }),
      };
    default:
      return { pointer, code: "value", message: plain(unit) };
  }
}

/** Extract `one of "GET", "POST"` from `Instance does not match any of ["GET","POST"].` */
function wanted(unit: OutputUnit): string {
  const listed = unit.error.replace(/^.*? match (any of )?/, "").replace(/\.$/, "");
  if (unit.keyword === "const") return listed;
  return t("problems.oneOf", { values: listed.slice(1, -1).replaceAll(",", ", ") });
}

const expectedKinds = (unit: OutputUnit): string[] =>
  (/Expected "(.*)"\.$/.exec(unit.error)?.[1] ?? "").split('", "').filter((kind) => kind !== "");

const anyOf = (kinds: readonly string[]): string =>
  kinds.reduce((one, other) => (one === "" ? other : t("problems.or", { one, other })), "");

/** Reword the validator's message, such as `900 is greater than 300.`, to follow a place. */
function plain({ keyword, error }: OutputUnit): string {
  // For a value that must be greater than 0, the validator says "0 is less than 0."
  const told =
    keyword === "exclusiveMinimum" ? error.replace(LESS, " is not greater than ") : error;
  for (const [pattern, words] of SENTENCES) {
    const found = pattern.exec(told);
    if (found) return words(found[1] ?? "", found[2] ?? "");
  }
  const sentence = error.replace(/\.$/, "");
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/** Patterns of the validator's messages, with our translated messages. */
const SENTENCES: readonly [RegExp, (one: string, other: string) => string][] = [
  [/^(.+) is less than (\S+)\.$/, (value, bound) => t("problems.isLess", { value, bound })],
  [
    /^(.+) is not greater than (\S+)\.$/,
    (value, bound) => t("problems.isNotGreater", { value, bound }),
  ],
  [/^(.+) is greater than (\S+)\.$/, (value, bound) => t("problems.isGreater", { value, bound })],
  [
    /^(.+) is greater than or equal to (\S+)\.$/,
    (value, bound) => t("problems.isGreaterOrEqual", { value, bound }),
  ],
  [
    /^String is too short \((\d+) < (\d+)\)/,
    (length, bound) => t("problems.isTooShort", { length, bound }),
  ],
  [
    /^String is too long \((\d+) > (\d+)\)/,
    (length, bound) => t("problems.isTooLong", { length, bound }),
  ],
  [/^String does not match pattern/, () => t("problems.doesNotMatch")],
  [
    /^String does not match format "(.*)"/,
    (format) => t("problems.doesNotMatchFormat", { format }),
  ],
  [
    /^Array has too few items \((\d+) < (\d+)\)/,
    (length, bound) => t("problems.hasTooFew", { length, bound }),
  ],
  [
    /^Array has too many items \((\d+) > (\d+)\)/,
    (length, bound) => t("problems.hasTooMany", { length, bound }),
  ],
  [
    /^Duplicate items at indexes (\d+) and (\d+)/,
    (one, other) => t("problems.isDuplicate", { one, other }),
  ],
];

function pointerOf(location: string): Pointer {
  const parts = decodeURI(location).split("/").slice(1);
  return parts.map((part) => {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    return /^\d+$/.test(key) ? Number(key) : key;
  });
}

function at(value: Json, pointer: Pointer): Json {
  return pointer.reduce<Json>((within, key) => {
    if (typeof within !== "object" || within === null) return null;
    return (within as Record<string | number, Json>)[key] ?? null;
  }, value);
}

function shown(value: Json): string {
  const text = Array.isArray(value)
    ? t("problems.aList")
    : isMap(value)
      ? t("problems.anObject")
      : JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

const isMap = (value: Json): boolean => typeof value === "object" && value !== null;
