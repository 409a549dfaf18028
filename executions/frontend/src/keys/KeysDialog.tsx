import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import type { Key } from "../words/types";
import { BINDINGS, type Binding } from "./bindings";
import { KeyRows, LettersSwitch } from "./KeyRows";

const GROUPS = {
  Tasks: "keys.groupTasks",
  Canvas: "keys.groupCanvas",
  View: "keys.groupView",
  Document: "keys.groupDocument",
} as const satisfies Record<Binding["group"], Key>;

/** The list of all keyboard shortcuts, with the checkbox for single letters. */
export function KeysDialog() {
  const close = (): void => useStudio.getState().set({ dialog: null });
  return (
    <Dialog title={t("keys.keys")} onClose={close} wide>
      <LettersSwitch example="t" />
      <div className="keys">
        {Object.entries(GROUPS).map(([group, name]) => (
          <section key={group} aria-label={t(name)}>
            <h3>{t(name)}</h3>
            <KeyRows rows={BINDINGS.filter((one) => one.group === group)} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}
