import { useState } from "react";
import type { Json } from "../../document/types";
import { cutReason } from "../../expressions/cut";
import { brief, kindWord } from "../../expressions/names";
import { writeStep } from "../../expressions/path";
import { Button } from "../../shared/Button";
import { t } from "../../words/t";
import { copyText, takePath } from "./copying";

interface Props {
  value: Json;
  /** The path that templates use for the value; null if they cannot read it. */
  path: string | null;
}

const FEW = 8;
const MOST = 100;

/** A value as a tree; a click on a key inserts its path into a template. */
export function JsonTree({ value, path }: Props) {
  return (
    <div className="tree">
      <Branch label={path ?? t("inspector.value")} value={value} path={path} open />
    </div>
  );
}

interface BranchProps extends Props {
  label: string;
  open?: boolean;
}

function Branch({ label, value, path, open: first = false }: BranchProps) {
  const [open, setOpen] = useState(first);
  const [most, setMost] = useState(MOST);
  const parts = partsOf(value);
  const cut = cutReason(value);
  return (
    <div className="branch">
      <div className="branch-line">
        {parts.length > 0 ? (
          <Button
            bare
            icon={open ? "keyboard_arrow_down" : "keyboard_arrow_right"}
            label={t(open ? "inspector.closePath" : "inspector.openPath", { path: label })}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          />
        ) : (
          <span className="branch-space" />
        )}
        <Key label={label} path={path} />
        <span className="branch-value">
          {cut
            ? t("inspector.tooLargeToShow", { shown: cut })
            : parts.length > 0
              ? kindWord(value)
              : brief(value, 200)}
        </span>
        <Button
          bare
          icon="content_copy"
          label={t("inspector.copyTheValue", { name: label })}
          onClick={() => copyText(asText(value), t("inspector.copied", { name: label }))}
        />
      </div>
      {open && parts.length > 0 && (
        <div className="branch-parts">
          {parts.slice(0, most).map(([step, part]) => (
            <Branch
              key={step}
              label={String(step)}
              value={part}
              path={path === null ? null : path + writeStep(step)}
              open={first && parts.length <= FEW && typeof step === "string"}
            />
          ))}
          {parts.length > most && (
            <Button
              label={t("inspector.showMore", {
                count: Math.min(MOST, parts.length - most),
                all: parts.length,
              })}
              onClick={() => setMost(most + MOST)}
            />
          )}
        </div>
      )}
    </div>
  );
}

function Key({ label, path }: { label: string; path: string | null }) {
  if (path === null) return <code className="branch-key">{label}</code>;
  return (
    <button
      type="button"
      className="branch-key"
      title={t("inspector.insertExpression", { expression: `{{ ${path} }}` })}
      aria-label={t("inspector.insert", { path })}
      // Keep the focus in the edited field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => takePath(path)}
    >
      <code>{label}</code>
    </button>
  );
}

function partsOf(value: Json): [string | number, Json][] {
  if (Array.isArray(value)) return value.map((item, at) => [at, item]);
  if (value === null || typeof value !== "object" || cutReason(value)) return [];
  return Object.entries(value);
}

const asText = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value, null, 2);
