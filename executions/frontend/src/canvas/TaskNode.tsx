import type { NodeProps } from "@xyflow/react";
import { memo } from "react";
import { Button } from "../shared/Button";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { Chain, Head, State } from "./Card";
import { toggleFold } from "./folding";
import type { TaskNode as Shown } from "./graph";
import { Handles } from "./Handles";
import { useLanding } from "./landing";
import { nameOf, unknownUse } from "./names";

/** A task as a card; a collapsed container shows how many tasks its body has. */
export const TaskNode = memo(function TaskNode({ data, selected }: NodeProps<Shown>) {
  const types = useStudio((state) => state.types);
  const unknown = unknownUse(data.task, types) !== null;
  const classes = ["card", selected ? "chosen" : "", unknown ? "unknown" : "", data.live?.colour];
  return (
    <div className={classes.filter(Boolean).join(" ")}>
      <Head data={data} />
      <Chain data={data} />
      {data.folded && <Fold data={data} />}
      <Handles data={data} />
      <State data={data} />
    </div>
  );
});

/** An expanded container with its body; it grows with the content. */
export const ContainerNode = memo(function ContainerNode({ data, selected }: NodeProps<Shown>) {
  const { task, live } = data;
  const landing = useLanding((state) => state.into === data.path);
  const classes = ["container", selected ? "chosen" : "", landing ? "landing" : "", live?.colour];
  return (
    <div className={classes.filter(Boolean).join(" ")}>
      <Head data={data} />
      <Fold data={data} />
      {task.body?.tasks.length === 0 && (
        <p className="hollow">{t("canvas.dropModulesHereTheyRun")}</p>
      )}
      <Handles data={data} open />
      <State data={data} />
    </div>
  );
});

function Fold({ data: { path, task, folded } }: { data: Shown["data"] }) {
  const content = t("canvas.tasks", { count: task.body?.tasks.length ?? 0 });
  return (
    <Button
      bare
      icon={folded ? "unfold_more" : "unfold_less"}
      label={t(folded ? "canvas.openContainer" : "canvas.foldContainer", {
        task: nameOf(task),
        content,
      })}
      aria-expanded={!folded}
      className="fold nodrag nopan"
      onClick={(event) => {
        event.stopPropagation();
        toggleFold(path);
      }}
      onKeyDown={(event) => event.stopPropagation()}
    />
  );
}
