import { rich } from "../words/rich";
import { t } from "../words/t";
import { switchLetters, useLetters } from "./letters";
import "./keys.css";

interface Row {
  keys: readonly string[];
  words: string;
}

/** The checkbox that enables shortcuts of a single letter. */
export function LettersSwitch({ example }: { example: string }) {
  const on = useLetters((state) => state.on);
  return (
    <label className="letters">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => switchLetters(event.target.checked)}
      />
      {rich("keys.singleKeysSuchAsAnd", { one: <kbd>{example}</kbd>, other: <kbd>/</kbd> })}
    </label>
  );
}

/** Keyboard shortcuts with descriptions. */
export function KeyRows({ rows }: { rows: readonly Row[] }) {
  const on = useLetters((state) => state.on);
  return (
    <dl>
      {rows.map(({ keys, words }) => (
        <div key={words}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>
            {words}
            {!on && keys.every((key) => key.length === 1) && ` ${t("keys.switchedOff")}`}
          </dd>
        </div>
      ))}
    </dl>
  );
}
