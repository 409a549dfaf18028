import type { Json } from "../document/types";
import { brief, type Name } from "../expressions/names";
import { preview } from "../expressions/preview";
import { useResultsStore } from "../running/results";
import { Icon } from "../shared/Icon";
import { rich } from "../words/rich";
import { t } from "../words/t";
import { useEvaluated } from "./useEvaluated";

const SHOWN = 300;

/**
 * The text's value with the displayed execution's data. Paths are resolved at once; the server
 * evaluates filters and operators.
 */
export function LastValue({ text, names }: { text: string; names: () => readonly Name[] }) {
  const value = preview(text, names());
  const evaluated = useEvaluated(text, names, value === undefined);
  if (value !== undefined) return <Told value={value} />;
  if (evaluated === null) return null;
  if (evaluated.error === null) return <Told value={evaluated.value} cut={evaluated.truncated} />;
  return (
    <p className="last-value without" role="note">
      <Icon name="info" />
      <span>{t("forms.noValueInTheLastRun", { reason: evaluated.error })}</span>
    </p>
  );
}

function Told({ value, cut = false }: { value: Json; cut?: boolean }) {
  const ran = useResultsStore((state) => state.results !== null);
  const text = typeof value === "string" ? value : brief(value, SHOWN);
  const shown = text.length > SHOWN || cut ? `${text.slice(0, SHOWN - 1)}…` : text;
  const told = { value: <code>{shown}</code> };
  return (
    <p className="last-value">
      {ran ? rich("forms.lastRun", told) : rich("forms.previewed", told)}
    </p>
  );
}
