import { useMemo } from "react";
import type { Definition } from "../document/types";
import { t } from "../words/t";
import { asPlainYaml } from "../yaml/writing";
import { type Line, lineDiff, withContext } from "./lines";

const WORDS: Record<Line["mark"], string> = {
  " ": "",
  "-": `${t("diff.lineRemoved")} `,
  "+": `${t("diff.lineAdded")} `,
};
const SHOWN = 4000;

/** The two documents' YAML line by line; unchanged lines are shown only near changes. */
export function TextDiff({ before, after }: { before: Definition; after: Definition }) {
  const lines = useMemo(
    () => withContext(lineDiff(asPlainYaml(before), asPlainYaml(after))),
    [before, after],
  );
  if (lines.every((line) => typeof line === "number")) {
    return <p className="comparison-none">{t("diff.theTextsAreTheSame")}</p>;
  }
  const rows = lines.slice(0, SHOWN).map((line, at) => ({ line, at }));
  return (
    // The text scrolls, so the keyboard must be able to reach it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must take the focus
    <section className="textdiff" tabIndex={0} aria-label={t("diff.differencesAsText")}>
      {rows.map(({ line, at }) =>
        typeof line === "number" ? (
          <p key={at} className="diff-skipped">
            {t("diff.equalLines", { count: line })}
          </p>
        ) : (
          <p key={at} className={MARKED[line.mark]}>
            <span aria-hidden="true">{line.mark}</span>
            <span className="unseen">{WORDS[line.mark]}</span>
            <code>{line.text}</code>
          </p>
        ),
      )}
    </section>
  );
}

const MARKED: Record<Line["mark"], string> = { " ": "diff-same", "-": "diff-was", "+": "diff-now" };
