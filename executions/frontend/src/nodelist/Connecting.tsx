import { useId, useState } from "react";
import { refusalOf } from "../document/cycles";
import { outcomesOf } from "../document/outcomes";
import { bodyAt, bodyOf, pathOf } from "../document/paths";
import type { TaskPath } from "../document/types";
import { Button } from "../shared/Button";
import { useDocument, useStudio } from "../store/studio";
import { join } from "./actions";

/** Choose after which task, and which outcome of it, a task comes. */
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
        No other task here can come before this one.{" "}
        <Button label="Close" autoFocus onClick={onDone} />
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
      <label htmlFor={task}>After</label>
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
      <label htmlFor={on}>on</label>
      <select id={on} value={wanted} onChange={(event) => setOutcome(event.target.value)}>
        {source.outcomes.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <Button label="Connect" type="submit" />
      <Button label="Cancel" icon="close" bare onClick={onDone} />
    </form>
  );
}

const focused = (field: HTMLElement | null): void => field?.focus();
