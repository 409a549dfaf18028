import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { BINDINGS, type Binding } from "./bindings";
import { switchLetters, useLetters } from "./letters";
import "./keys.css";

const GROUPS: readonly Binding["group"][] = ["Tasks", "Canvas", "View", "Document"];

/** Every key there is, and the switch for those of a single letter. */
export function KeysDialog() {
  const on = useLetters((state) => state.on);
  const close = (): void => useStudio.getState().set({ dialog: null });
  return (
    <Dialog title="Keys" onClose={close} wide>
      <label className="letters">
        <input
          type="checkbox"
          checked={on}
          onChange={(event) => switchLetters(event.target.checked)}
        />
        Single keys such as <kbd>t</kbd> and <kbd>/</kbd> work
      </label>
      <div className="keys">
        {GROUPS.map((group) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <dl>
              {BINDINGS.filter((one) => one.group === group).map((one) => (
                <Row key={one.words} binding={one} off={!on && isSingle(one)} />
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

const isSingle = ({ keys }: Binding): boolean => keys.every((key) => key.length === 1);

function Row({ binding: { keys, words }, off }: { binding: Binding; off: boolean }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>
        {words}
        {off && " (switched off)"}
      </dd>
    </div>
  );
}
