import type { EdgeChange, NodeChange } from "@xyflow/react";
import { useCallback, useMemo, useRef, useState } from "react";
import type { Point } from "../document/edits";
import { bodyOf } from "../document/paths";
import { directionOf } from "../document/sizes";
import type { TaskPath } from "../document/types";
import { useLive } from "../live/live";
import { useDocument, useStudio } from "../store/studio";
import { chooseLines, chooseNodes } from "./choosing";
import { countsOf } from "./counts";
import { landed, moveTo } from "./dropping";
import { isFolded } from "./folding";
import {
  type CanvasLine,
  type CanvasNode,
  type Linked,
  linesOf,
  type Moving,
  nodesOf,
  type Scene,
} from "./graph";
import { leaving } from "./landing";
import { goesOn, STILL, settled, underWay } from "./moving";
import { boxOf } from "./viewport";

export interface Graph {
  nodes: CanvasNode[];
  lines: CanvasLine[];
  onNodes: (changes: NodeChange<CanvasNode>[]) => void;
  onLines: (changes: EdgeChange<CanvasLine>[]) => void;
}

/**
 * Return the document as nodes and edges, with handlers for React Flow's changes.
 *
 * A gesture changes only the state of this hook until it ends, and then makes one edit. Unchanged
 * nodes remain the same objects, so that only moved nodes are drawn again.
 */
export function useGraph(): Graph {
  const [moving, setMoving] = useState<Moving>(STILL);
  const scene = useScene(moving);
  const nodes = useKept(scene, nodesOf);
  const lines = useKept(useLinked(scene, nodes), linesOf);
  const now = useRef({ nodes, lines, moving, gesture: false });
  now.current = { ...now.current, nodes, lines, moving };
  const onNodes = useCallback((changes: NodeChange<CanvasNode>[]) => {
    const { current } = now;
    chooseNodes(changes, current.nodes);
    const next = underWay(current.moving, changes, leaving());
    if (!next) return;
    current.moving = next;
    const dragged = current.gesture;
    current.gesture = goesOn(changes);
    if (current.gesture) {
      setMoving(next);
      return;
    }
    const landing = landed();
    const { edit } = useStudio.getState();
    const merge = dragged ? undefined : `move:${[...next.places.keys()].join()}`;
    if (landing) moveTo(landing.body, landing.tasks, placeOf(landing.tasks[0] ?? "", next));
    else edit((document) => settled(document, next, current.nodes), merge);
    current.moving = STILL;
    setMoving(STILL);
  }, []);
  const onLines = useCallback(
    (changes: EdgeChange<CanvasLine>[]) => chooseLines(changes, now.current.lines),
    [],
  );
  return { nodes, lines, onNodes, onLines };
}

/** Return the present position of a dragged task, in canvas coordinates. */
function placeOf(path: TaskPath, { places }: Moving): Point {
  const place = places.get(path) ?? { x: 0, y: 0 };
  const around = boxOf(bodyOf(path).join("."));
  return around ? { x: around.x + place.x, y: around.y + place.y } : place;
}

/** Edges depend on which nodes exist, not on the positions during a drag. */
function useLinked({ document, selection, drawing }: Scene, nodes: readonly CanvasNode[]): Linked {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the nodes' ids follow from the document and what is folded
  return useMemo(
    () => ({ document, selection, drawn: new Set(nodes.map((node) => node.id)) }),
    [document, selection, drawing],
  );
}

function useScene(moving: Moving): Scene {
  const document = useDocument();
  const types = useStudio((state) => state.types);
  const selection = useStudio((state) => state.selection);
  const toggled = useStudio((state) => state.collapsed);
  const problems = useStudio((state) => state.problems);
  const canEdit = useStudio((state) => state.page.canEdit);
  const live = useLive();
  const counts = useMemo(() => countsOf(problems), [problems]);
  const direction = directionOf(document);
  const drawing = useMemo(
    () => ({ types, direction, folded: isFolded.bind(null, toggled) }),
    [types, direction, toggled],
  );
  return useMemo(
    () => ({ document, drawing, selection, problems: counts, live, moving, canEdit }),
    [document, drawing, selection, counts, live, moving, canEdit],
  );
}

/** Call `make` for a new source, with the objects that it made before, by id. */
function useKept<S, T extends { id: string }>(
  source: S,
  make: (source: S, before: ReadonlyMap<string, T>) => T[],
): T[] {
  const kept = useRef<{ source: S; made: T[]; byId: ReadonlyMap<string, T> } | null>(null);
  if (kept.current?.source !== source) {
    const made = make(source, kept.current?.byId ?? new Map());
    kept.current = { source, made, byId: new Map(made.map((one) => [one.id, one])) };
  }
  return kept.current.made;
}
