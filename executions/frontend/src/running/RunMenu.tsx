import type { TaskPath } from "../document/types";
import { Menu, type MenuItem } from "../shared/Menu";
import { t } from "../words/t";
import { executionPageOf } from "./links";
import { pinBefore, pinBeforeRefusal } from "./pinning";
import { usePins } from "./pins";
import { useResults } from "./results";
import { runActions } from "./wish";

/** The run actions of one task. */
export function RunMenu({ path }: { path: TaskPath }) {
  const { results, of } = useResults();
  const pins = usePins();
  const result = of(path);
  const items: MenuItem[] = [
    ...runActions(path).map(({ label, icon, refusal, act }) => ({
      label,
      icon,
      refusal,
      onChoose: act,
    })),
    {
      label: t("running.pinAllBefore"),
      icon: "keep",
      apart: true,
      refusal: pinBeforeRefusal(path),
      onChoose: () => void pinBefore(path),
    },
    {
      label: t("running.unpinAllCounted", { count: pins.pins.size }),
      icon: "keep_off",
      refusal: pins.pins.size === 0 ? t("running.nothingIsPinned") : undefined,
      onChoose: pins.clear,
    },
  ];
  if (results && result) {
    const href = executionPageOf(results.executionId, { run: result.runId });
    items.push({ label: t("running.itsRunOnThePage"), icon: "monitoring", apart: true, href });
  }
  return <Menu label={t("running.runThisTask")} icon="play_circle" items={items} />;
}
