import type { Json } from "../document/types";
import { Icon } from "../shared/Icon";
import { numberText } from "../words/formats";
import { t } from "../words/t";
import type { Shape } from "./kinds";
import { firstSentence } from "./labels";
import { Prose } from "./Prose";

interface Props {
  id: string;
  shape: Shape;
  problems: readonly string[];
  /** Whether to show only the problems. */
  short: boolean;
}

const LONG = 130;

/** The text below a field: its problems, description, limits and default. */
export function Help({ id, shape, problems, short }: Props) {
  const { schema } = shape;
  const text = short || typeof schema.description !== "string" ? "" : schema.description;
  const first = text.length > LONG ? firstSentence(text) : text;
  const rest = text.slice(first.length).trim();
  const facts = short ? "" : factsOf(shape);
  return (
    <div id={id} className="help">
      {problems.map((sentence) => (
        <p key={sentence} className="wrong">
          <Icon name="error" /> {sentence}
        </p>
      ))}
      {(first || facts) && (
        <p>
          <Prose text={first} /> {facts}
        </p>
      )}
      {rest && (
        <details>
          <summary>{t("forms.more")}</summary>
          <p>
            <Prose text={rest} />
          </p>
        </details>
      )}
    </div>
  );
}

/** For example "At least 1, at most 100. Default: 10." */
function factsOf({ schema, kinds }: Shape): string {
  const alternatives = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  const of = (key: string): Json | undefined =>
    schema[key] ??
    alternatives
      .map((one) => (one as { [key: string]: Json })[key])
      .find((value) => value !== undefined);
  const number = kinds.some((kind) => kind.is === "number");
  const least = number ? (of("minimum") ?? of("exclusiveMinimum")) : undefined;
  const most = number ? of("maximum") : undefined;
  const above = of("minimum") === undefined ? "forms.moreThan" : "forms.atLeast";
  const bounds = [
    ...(least === undefined ? [] : [t(above, { least: String(least) })]),
    ...(most === undefined ? [] : [t("forms.atMost", { most: numberText(Number(most)) })]),
  ].join(", ");
  const sentence = bounds === "" ? "" : `${bounds.charAt(0).toUpperCase()}${bounds.slice(1)}.`;
  const shown = kinds.some((kind) => kind.is === "list" || kind.is === "map");
  return `${sentence} ${shown ? defaultOf(schema.default) : ""}`.trim();
}

/** Describe the default if the control does not show it; empty defaults are left out. */
function defaultOf(value: Json | undefined): string {
  if (value === undefined || value === null || value === "" || value === false) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return ["[]", "{}"].includes(text)
    ? ""
    : t("forms.default", { value: text === '"' ? t("forms.doubleQuote") : text });
}
