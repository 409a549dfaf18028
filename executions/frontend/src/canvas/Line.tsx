import {
  BaseEdge,
  EdgeLabelRenderer,
  type EdgeProps,
  getBezierPath,
  getSmoothStepPath,
  Position,
} from "@xyflow/react";
import { memo } from "react";
import { ERROR, SUCCESS } from "../document/outcomes";
import { useLiveStore, wasTaken } from "../live/live";
import type { CanvasLine } from "./graph";

/** Distance of the label from the start of the edge, in pixels. */
const ALONG = 30;

/**
 * An edge, styled by whether the displayed execution took it.
 *
 * Only an `error` edge or a selected edge has a label, because a branch task's outcomes are already
 * labelled at their handles.
 */
export const Line = memo(function Line(props: EdgeProps<CanvasLine>) {
  const { id, data, selected, markerEnd, interactionWidth } = props;
  const [path] = goesBack(props) ? getSmoothStepPath(props) : getBezierPath(props);
  const taken = useTaken(data);
  const on = data?.edge.on ?? SUCCESS;
  const classes = ["line", on === ERROR ? "failing" : "", taken, selected ? "chosen" : ""]
    .filter(Boolean)
    .join(" ");
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        className={classes}
        {...(markerEnd === undefined ? {} : { markerEnd })}
        interactionWidth={interactionWidth ?? 20}
      />
      {(on === ERROR || selected) && (
        <EdgeLabelRenderer>
          <span className={`outcome-label ${classes}`} style={{ transform: placeOf(props) }}>
            {on}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

/** Whether the edge leads backwards; such an edge is drawn around the nodes between its ends. */
const goesBack = ({ sourceX, sourceY, targetX, targetY, sourcePosition }: EdgeProps): boolean =>
  sourcePosition === Position.Bottom ? targetY < sourceY : targetX < sourceX;

function placeOf({ sourceX, sourceY, sourcePosition }: EdgeProps<CanvasLine>): string {
  const down = sourcePosition === Position.Bottom;
  const [x, y] = down ? [sourceX, sourceY + ALONG] : [sourceX + ALONG, sourceY];
  return `translate(-50%, -50%) translate(${x}px, ${y}px)`;
}

/** Return `taken` or `untaken`, or "" if no states are displayed. */
function useTaken(data: CanvasLine["data"]): "" | "taken" | "untaken" {
  return useLiveStore(({ tasks }) => {
    if (tasks.size === 0 || !data) return "";
    return wasTaken(tasks, data.body, data.edge) ? "taken" : "untaken";
  });
}
