import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { BINDINGS, type Binding } from "./bindings";
import { KeyRows, LettersSwitch } from "./KeyRows";

const GROUPS: readonly Binding["group"][] = ["Tasks", "Canvas", "View", "Document"];

/** Every key there is, and the switch for those of a single letter. */
export function KeysDialog() {
  const close = (): void => useStudio.getState().set({ dialog: null });
  return (
    <Dialog title="Keys" onClose={close} wide>
      <LettersSwitch example="t" />
      <div className="keys">
        {GROUPS.map((group) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <KeyRows rows={BINDINGS.filter((one) => one.group === group)} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}
