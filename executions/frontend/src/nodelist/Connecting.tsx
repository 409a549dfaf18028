import { useId, useState } from "react";
import { refusalOf } from "../document/cycles";
import { outcomesOf } from "../document/outcomes";
import { bodyAt, bodyOf, pathOf } from "../document/paths";
import type { TaskPath } from "../document/types";
import { Button } from "../shared/Button";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { join } from "./actions";

/** Connects a task: the user chooses the task before it, and the outcome. */
export function Connecting({ to, onDone }: { to: TaskPath; onDone: () => void }) {
  const document = useDocument();
  const types = useStudio((state) => state.types);
  const body = bodyOf(to);
  const sources = (bodyAt(document, body)?.tasks ?? [])
    .map((task) => ({
      path: pathOf(body, task.id),
      name: task.name || task.id,
      outcomes: outcomesOf(task, types).filter(
        (on) => refusalOf(document, pathOf(body, task.id), to, on) === null,
      ),
    }))
    .filter((source) => source.outcomes.length > 0);
  const [from, setFrom] = useState(sources[0]?.path ?? "");
  const [outcome, setOutcome] = useState("");
  const [task, on] = [useId(), useId()];
  const source = sources.find((one) => one.path === from) ?? sources[0];
  if (!source) {
    return (
      <p className="list-none" role="status">
        {t("nodelist.noOtherTaskHereCanCome")}{" "}
        <Button label={t("shared.close")} autoFocus onClick={onDone} />
      </p>
    );
  }
  const wanted = source.outcomes.includes(outcome) ? outcome : (source.outcomes[0] ?? "success");
  return (
    <form
      className="connecting"
      onSubmit={(event) => {
        event.preventDefault();
        if (join(source.path, to, wanted) === null) onDone();
      }}
    >
      <label htmlFor={task}>{t("nodelist.after")}</label>
      <select
        id={task}
        ref={focused}
        value={source.path}
        onChange={(event) => setFrom(event.target.value)}
      >
        {sources.map((one) => (
          <option key={one.path} value={one.path}>
            {one.name}
          </option>
        ))}
      </select>
      <label htmlFor={on}>{t("nodelist.connectOn")}</label>
      <select id={on} value={wanted} onChange={(event) => setOutcome(event.target.value)}>
        {source.outcomes.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <Button label={t("nodelist.connect")} type="submit" />
      <Button label={t("shared.cancel")} icon="close" bare onClick={onDone} />
    </form>
  );
}

const focused = (field: HTMLElement | null): void => field?.focus();
