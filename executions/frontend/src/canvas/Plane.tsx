import {
  Background,
  BackgroundVariant,
  type DefaultEdgeOptions,
  MarkerType,
  ReactFlow,
  type ReactFlowProps,
  useStore,
} from "@xyflow/react";
import { type CSSProperties, type MouseEvent, useEffect, useMemo } from "react";
import type { CanvasLine, CanvasNode } from "./graph";
import { Line } from "./Line";
import { NoteNode } from "./NoteNode";
import { nodeAt, Overview } from "./Overview";
import { SPOKEN } from "./spoken";
import { ContainerNode, TaskNode } from "./TaskNode";
import { begin, FAR, type Flow, pointOf, setFlow } from "./viewport";
import "./canvas.css";
import "./cards.css";

const NODES = { task: TaskNode, container: ContainerNode, note: NoteNode };
const LINES = { line: Line };
const NO_LINES: CanvasLine[] = [];
const DEFAULTS: DefaultEdgeOptions = {
  markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: "var(--vk-edge)" },
};
/** Above so many nodes, those out of sight are not drawn: where all may be edited, and not. */
const MANY = { edited: 1000, looked: 300 };
/** Below this zoom what is to be read of cards has a size of its own. */
const SMALL = 0.62;

interface Props extends ReactFlowProps<CanvasNode, CanvasLine> {
  nodes: CanvasNode[];
  edges: CanvasLine[];
  /** Takes what is clicked, by those who only look. */
  onPick?: (id: string | null) => void;
}

/**
 * The workflow's plane: nodes and edges as cards and lines, whatever one may do with them.
 *
 * Cards seen from afar leave out their small print. For those who only look, names and states keep a
 * size that can be read, and many nodes from afar are an overview.
 */
export function Plane({ nodes, edges, children, onPick, ...rest }: Props) {
  const far = useStore((state) => state.transform[2] < FAR);
  // Who edits moves many cards at once: nothing of them may depend on the zoom.
  const small = useStore((state) => onPick !== undefined && state.transform[2] < SMALL);
  const scale = useStore((state) => (onPick ? steps(state.transform[2]) : 1));
  const many = nodes.length > (onPick ? MANY.looked : MANY.edited);
  const isOverview = onPick !== undefined && many && far;
  const hidden = useMemo(() => nodes.map((node) => ({ ...node, hidden: true })), [nodes]);
  useEffect(() => () => setFlow(null), []);
  const begun = (flow: Flow) => {
    setFlow(flow);
    if (!onPick) begin();
  };
  const picking = onPick && {
    onNodeClick: (_: MouseEvent, node: CanvasNode) => onPick(node.id),
    onPaneClick: (event: MouseEvent) => onPick(isOverview ? nodeAt(nodes, pointOf(event)) : null),
  };
  return (
    <ReactFlow
      {...rest}
      {...picking}
      className={[far ? "far" : "", small ? "small" : ""].join(" ")}
      style={{ "--scale": scale } as CSSProperties}
      nodes={isOverview ? hidden : nodes}
      edges={isOverview ? NO_LINES : edges}
      nodeTypes={NODES}
      edgeTypes={LINES}
      onInit={begun}
      defaultEdgeOptions={DEFAULTS}
      onlyRenderVisibleElements={many}
      ariaLabelConfig={SPOKEN}
      fitView
    >
      <Background variant={BackgroundVariant.Dots} gap={20} size={1.5} />
      {isOverview && <Overview nodes={nodes} lines={edges} />}
      {children}
    </ReactFlow>
  );
}

/** The zoom in steps of a tenth, so that what depends on it is laid out anew but now and then. */
const steps = (zoom: number): number =>
  Math.round(1000 * 1.1 ** Math.round(Math.log(zoom) / Math.log(1.1))) / 1000;
