import { Background, Controls, MiniMap, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import { useDocument } from "../store/studio";

/** The workflow as a graph. */
export function Canvas() {
  const document = useDocument();
  const nodes = useMemo(
    () =>
      document.tasks.map((task) => ({
        id: task.id,
        position: { x: task.ui?.x ?? 0, y: task.ui?.y ?? 0 },
        data: { label: task.name ?? task.id },
      })),
    [document],
  );
  const edges = useMemo(
    () =>
      (document.edges ?? []).map((edge) => ({
        id: `${edge.from}>${edge.to}:${edge.on ?? ""}`,
        source: edge.from,
        target: edge.to,
      })),
    [document],
  );
  return (
    <section className="canvas" aria-label="Canvas">
      <ReactFlow nodes={nodes} edges={edges} fitView>
        <Background />
        <Controls />
        <MiniMap />
      </ReactFlow>
    </section>
  );
}
