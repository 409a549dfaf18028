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
/**
 * Above this number of nodes, only those in view are drawn: in the editor, and in a read-only
 * graph.
 */
const MANY = { edited: 1000, looked: 300 };
/**
 * Below this zoom, a read-only graph draws the cards' names and states at a fixed, readable size.
 */
const SMALL = 0.62;

interface Props extends ReactFlowProps<CanvasNode, CanvasLine> {
  nodes: CanvasNode[];
  edges: CanvasLine[];
  /** Called with the clicked node's id, or null; a graph with this callback is read-only. */
  onPick?: (id: string | null) => void;
}

/**
 * The nodes and edges of a workflow, for editing or read-only.
 *
 * Cards omit their details at a low zoom. In a read-only graph, names and states keep a readable
 * size, and a low zoom with many nodes shows an overview.
 */
export function Plane({ nodes, edges, children, onPick, ...rest }: Props) {
  const far = useStore((state) => state.transform[2] < FAR);
  // On the editable canvas, no card may depend on the zoom, because many cards move at once.
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

/**
 * Round the zoom to powers of 1.1, so that elements that depend on it are rarely laid out again.
 */
const steps = (zoom: number): number =>
  Math.round(1000 * 1.1 ** Math.round(Math.log(zoom) / Math.log(1.1))) / 1000;
