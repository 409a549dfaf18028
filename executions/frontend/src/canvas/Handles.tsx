import { Handle } from "@xyflow/react";
import { ERROR, SUCCESS } from "../document/outcomes";
import { namedOutcomes } from "../document/sizes";
import { t } from "../words/t";
import { handlesOf, IN } from "./face";
import type { TaskData } from "./graph";

/** The points at which edges start and end; a branch task's outcomes are labelled. */
export function Handles({ data, open }: { data: TaskData; open?: boolean }) {
  const { outcomes, direction, size } = data;
  const across = direction === "LR";
  const named = new Set(namedOutcomes(outcomes));
  return handlesOf(size, outcomes, direction, open ?? false).map((place) => (
    <div key={place.id}>
      <Handle
        type={place.type}
        id={place.id}
        position={place.position}
        style={across ? { top: place.y } : { left: place.x }}
        className={place.id === ERROR ? "handle failing" : "handle"}
        title={titleOf(place.id)}
      />
      {named.has(place.id) && (
        <span
          className={across ? "outcome across" : "outcome down"}
          style={across ? { top: place.y } : { left: place.x }}
        >
          {place.id}
        </span>
      )}
    </div>
  ));
}

function titleOf(id: string): string {
  if (id === IN) return t("canvas.whatComesBeforeEndsHere");
  if (id === SUCCESS) return t("canvas.dragToWhatComesNext");
  return id === ERROR
    ? t("canvas.dragToWhatComesAfter")
    : t("canvas.dragToWhatComes", { outcome: id });
}
