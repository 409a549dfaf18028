import { useId } from "react";
import { connect, disconnect, sameEdge } from "../document/edits";
import { outcomesOf } from "../document/outcomes";
import { bodyAt, pathOf } from "../document/paths";
import { Button } from "../shared/Button";
import { useRefusal } from "../store/readOnly";
import type { ChosenEdge } from "../store/selection";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";

/** An edge: its tasks, and the outcome that selects it. */
export function EdgePanel({ chosen }: { chosen: ChosenEdge }) {
  const document = useDocument();
  const types = useStudio((state) => state.types);
  const { edit, select, goTo } = useStudio.getState();
  const refusal = useRefusal();
  const field = useId();
  const { body, edge } = chosen;
  const within = bodyAt(document, body);
  const there = (within?.edges ?? []).some((one) => sameEdge(one, edge));
  const source = within?.tasks.find((task) => task.id === edge.from);
  if (!there) return <p className="subtle panel">{t("inspector.thisEdgeIsGone")}</p>;
  const on = edge.on ?? "success";
  const outcomes = source ? outcomesOf(source, types) : [];
  const change = (outcome: string): void => {
    const next = { ...edge, on: outcome };
    edit((old) => connect(disconnect(old, body, [edge]), body, next));
    select({ edges: [{ body, edge: next }] });
  };
  const remove = (): void => {
    edit((old) => disconnect(old, body, [edge]));
    select({});
  };
  return (
    <section className="panel" aria-label={t("inspector.edge")}>
      <h2>{t("inspector.edge")}</h2>
      <p className="edge-ends">
        <Button label={edge.from} onClick={() => goTo(pathOf(body, edge.from))} />
        <span aria-hidden="true">→</span>
        <span className="unseen">{t("inspector.edgeTo")}</span>
        <Button label={edge.to} onClick={() => goTo(pathOf(body, edge.to))} />
      </p>
      <div className="field">
        <label className="label" htmlFor={field}>
          {t("inspector.outcome")}
        </label>
        <select
          id={field}
          className="input"
          value={on}
          aria-disabled={refusal ? true : undefined}
          title={refusal}
          onChange={(event) => refusal ?? change(event.currentTarget.value)}
        >
          {[...new Set([on, ...outcomes])].map((outcome) => (
            <option key={outcome} value={outcome}>
              {outcomes.includes(outcome) ? outcome : t("inspector.unknown", { outcome })}
            </option>
          ))}
        </select>
        <p className="help">{t("inspector.theEdgeIsTakenWhenEnds", { task: edge.from })}</p>
      </div>
      <p>
        <Button
          icon="delete"
          label={t("inspector.deleteTheEdge")}
          refusal={refusal}
          onClick={remove}
        />
      </p>
    </section>
  );
}
