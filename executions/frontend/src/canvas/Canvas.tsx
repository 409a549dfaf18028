import { ConnectionLineType, MiniMap, ReactFlowProvider } from "@xyflow/react";
import type { DragEvent, KeyboardEvent } from "react";
import { addModule, addNote } from "../document/adding";
import { DRAGGED } from "../palette/ModuleButton";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { useClipboard } from "./clipboard";
import { mayLink, onConnect, onConnectEnd, onReconnect } from "./connecting";
import { dragBegan, dragged } from "./dropping";
import { EmptyCanvas } from "./EmptyCanvas";
import type { CanvasNode } from "./graph";
import { NodeBar } from "./NodeBar";
import { NoticeLine } from "./NoticeLine";
import { Plane } from "./Plane";
import { usePointed } from "./pointed";
import { SelectionBar } from "./SelectionBar";
import { SizeWarning } from "./SizeWarning";
import { Toolbar } from "./Toolbar";
import { useGraph } from "./useGraph";
import { useRevealing } from "./useRevealing";
import { bodyUnder } from "./viewport";
import { useWriting } from "./writing";

const FIRST_VIEW = { padding: 0.12, maxZoom: 1 };
const MULTI = ["Shift", "Control", "Meta"];

/** The workflow as a graph that users can edit. */
export function Canvas() {
  return (
    <ReactFlowProvider>
      <Graph />
    </ReactFlowProvider>
  );
}

function Graph() {
  const { nodes, lines, onNodes, onLines } = useGraph();
  const canEdit = useStudio((state) => state.page.canEdit);
  const empty = useDocument().tasks.length === 0;
  useClipboard();
  useRevealing();
  const { pointed, listeners } = usePointed();
  return (
    <section
      {...listeners}
      className="canvas"
      aria-label={t("canvas.canvas")}
      tabIndex={-1}
      onDragOver={allowDrop}
      onDrop={dropped}
      onKeyDown={pressed}
    >
      <Plane
        nodes={nodes}
        edges={lines}
        onNodesChange={onNodes}
        onEdgesChange={onLines}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd}
        onReconnect={onReconnect}
        isValidConnection={mayLink}
        onNodeDragStart={dragBegan}
        onNodeDrag={dragged}
        onNodeDoubleClick={openDetails}
        nodesConnectable={canEdit}
        edgesReconnectable={canEdit}
        nodesDraggable={canEdit}
        connectionLineType={ConnectionLineType.Bezier}
        deleteKeyCode={null}
        multiSelectionKeyCode={MULTI}
        fitViewOptions={FIRST_VIEW}
        minZoom={0.08}
        maxZoom={2}
      >
        {!empty && (
          <MiniMap pannable zoomable ariaLabel={t("canvas.overview")} nodeClassName={mapClass} />
        )}
        <Toolbar />
        <SelectionBar />
        <SizeWarning count={nodes.length} />
        {pointed && <NodeBar pointed={pointed} />}
      </Plane>
      {empty && <EmptyCanvas />}
      <NoticeLine />
    </section>
  );
}

const mapClass = (node: CanvasNode): string =>
  node.type === "note" ? `map-note ${node.data.note.color ?? "yellow"}` : `map-${node.type}`;

const openDetails = (_: unknown, node: CanvasNode): void => {
  if (node.type !== "note") useStudio.getState().goTo(node.id, ["name"]);
};

function allowDrop(event: DragEvent): void {
  if (!event.dataTransfer.types.includes(DRAGGED)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
}

/** Add the dragged item at the drop position, in the container there or in the workflow itself. */
function dropped(event: DragEvent): void {
  const value = event.dataTransfer.getData(DRAGGED);
  if (!value) return;
  event.preventDefault();
  const { body, at } = bodyUnder({ x: event.clientX, y: event.clientY });
  const place = { x: Math.round(at.x - 30), y: Math.round(at.y - 27) };
  if (value === "note") addNote({ body, at: place });
  else addModule(value, { body, at: place });
}

/** On Enter, edit the text of a selected note, or open the details of a selected task. */
function pressed(event: KeyboardEvent): void {
  const node = event.target instanceof HTMLElement ? event.target : null;
  const id = node?.classList.contains("react-flow__node") ? node.dataset.id : undefined;
  if (id === undefined || event.key !== "Enter" || !node?.classList.contains("selected")) return;
  event.preventDefault();
  if (id.startsWith("note:")) useWriting.setState({ note: id });
  else useStudio.getState().goTo(id, ["name"]);
}
