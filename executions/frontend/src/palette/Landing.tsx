import type { ReactNode } from "react";
import { landingOf } from "../document/adding";
import { taskAt } from "../document/paths";
import { Icon } from "../shared/Icon";
import { useDocument, useStudio } from "../store/studio";
import { rich } from "../words/rich";
import { t } from "../words/t";

/** Says where a chosen module will be added. */
export function LandingHint() {
  const document = useDocument();
  const selected = useStudio((state) => state.selection.tasks);
  const { body, after } = landingOf(document, selected);
  const name = (path: string): string => taskAt(document, path)?.name || path;
  const inside = body.length > 0 ? body.join(".") : null;
  return (
    <p className="palette-landing">
      <Icon name={after ? "subdirectory_arrow_right" : "add"} />
      <span>{wordsOf(inside && name(inside), after ? name(after) : null)}</span>
    </p>
  );
}

function wordsOf(inside: string | null, after: string | null): ReactNode {
  const place = <strong>{inside}</strong>;
  const task = <strong>{after}</strong>;
  if (inside && after) return rich("palette.intoAfter", { place, task });
  if (inside) return rich("palette.into", { place });
  return after ? rich("palette.after", { task }) : t("palette.byItselfSelectATask");
}
