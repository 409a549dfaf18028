import { useLiveStore } from "../live/live";
import { Button } from "../shared/Button";
import { useDocument } from "../store/studio";
import { t } from "../words/t";
import { ago } from "./ages";
import { usePins } from "./pins";
import { useResults } from "./results";

interface Props {
  /** The task at which the test run starts; null if it starts at the beginning. */
  from: string | null;
  useShown: boolean;
  onUseShown: (use: boolean) => void;
}

/** The results that replace tasks: pinned outputs, and those of the displayed execution. */
export function Given({ from, useShown, onUseShown }: Props) {
  const { pins, unpin, clear } = usePins();
  const since = useShownSince();
  const tasks = useDocument().tasks;
  const names = new Map(tasks.map((task) => [task.id, task.name ?? task.id]));
  if (pins.size === 0 && from === null) return null;
  return (
    <fieldset className="run-given">
      <legend>{t("running.givenResults")}</legend>
      {from !== null && (
        <label className="check">
          <input
            type="checkbox"
            checked={useShown && since !== null}
            disabled={since === null}
            onChange={(event) => onUseShown(event.target.checked)}
          />
          {since === null
            ? t("running.noRunIsShownWhoseResults")
            : since === ""
              ? t("running.resultsOnScreen")
              : t("running.resultsOf", { time: ago(since) })}
        </label>
      )}
      {pins.size > 0 && (
        <>
          <p className="run-hint">{t("running.pinnedTheseTasksAreNotRun")}</p>
          <ul>
            {[...pins].map(([path, pin]) => (
              <li key={path}>
                <span className="given-name">
                  {names.get(path) ?? t("running.noLongerThere", { path })}
                </span>
                {pin.outcome && <span className="pill">{pin.outcome}</span>}
                <code>{preview(pin.output)}</code>
                <Button
                  icon="keep_off"
                  label={t("running.unpin", { task: names.get(path) ?? path })}
                  bare
                  onClick={() => unpin(path)}
                />
              </li>
            ))}
          </ul>
          {pins.size > 1 && <Button label={t("running.unpinAll")} onClick={clear} />}
        </>
      )}
    </fieldset>
  );
}

/** Return when the displayed execution was created, "" until that is known; null without one. */
function useShownSince(): string | null {
  const { results } = useResults();
  const watched = useLiveStore((state) => state.watched);
  const since = useLiveStore((state) => state.execution?.createdAt ?? "");
  return watched === null ? (results?.createdAt ?? null) : since;
}

const preview = (value: unknown): string => JSON.stringify(value).slice(0, 120);
