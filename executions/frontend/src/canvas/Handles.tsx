import { Handle } from "@xyflow/react";
import { ERROR, SUCCESS } from "../document/outcomes";
import { namedOutcomes } from "../document/sizes";
import { handlesOf, IN } from "./face";
import type { TaskData } from "./graph";

/** Where edges begin and end; a gate's outcomes are written beside theirs. */
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
  if (id === IN) return "What comes before ends here";
  if (id === SUCCESS) return "Drag to what comes next";
  return id === ERROR ? "Drag to what comes after an error" : `Drag to what comes on ${id}`;
}
