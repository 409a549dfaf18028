/** The workflow definition (`valkyr/1`) as the studio edits it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/**
 * Values of a task for the studio only: its position in its body, in pixels, and display options.
 */
export interface TaskUi {
  x?: number;
  y?: number;
  note?: string;
  collapsed?: boolean;
  [key: string]: Json | undefined;
}

/** A sticky note in a body. */
export interface Note {
  id: string;
  x: number;
  y: number;
  w: number;
  h: number;
  text: string;
  color?: "yellow" | "blue" | "green" | "pink" | "grey";
}

/** Settings of how a step runs, for a module or a whole task. */
export interface Running {
  retry?: string | JsonObject;
  timeoutSeconds?: number;
  circuitWaitSeconds?: number;
  queue?: string;
  credential?: string;
  cache?: { scope?: "workflow" | "workspace"; ttlSeconds: number } | null;
}

/** The step that undoes a task. */
export interface Undo extends Omit<Running, "cache"> {
  use: string;
  with?: JsonObject;
}

export interface Module extends Running {
  id: string;
  use: string;
  with?: JsonObject;
  ui?: JsonObject;
}

/** Has either `modules`, or `use` and `with` as a short form of one module with the id `main`. */
export interface Task extends Running {
  id: string;
  name?: string;
  use?: string;
  with?: JsonObject;
  modules?: Module[];
  body?: Body;
  join?: "any" | "all";
  undo?: Undo;
  ui?: TaskUi;
}

/** Taken if the outcome of `from` equals `on`; the default of `on` is `success`. */
export interface Edge {
  from: string;
  to: string;
  on?: string;
  ui?: JsonObject;
}

export interface BodyUi {
  notes?: Note[];
  [key: string]: Json | Note[] | undefined;
}

/** The tasks of a workflow or a container, and the edges between them. */
export interface Body {
  tasks: Task[];
  edges?: Edge[];
  ui?: BodyUi;
}

export interface Trigger {
  type: "CRON" | "WEBHOOK" | "EVENT" | "QUEUE";
  [key: string]: Json | undefined;
}

export interface Definition extends Body {
  schema: "valkyr/1";
  name: string;
  description?: string;
  input?: JsonObject;
  variables?: JsonObject;
  output?: Json;
  settings?: JsonObject;
  labels?: JsonObject;
  triggers?: Trigger[];
}

/** The ids of the containers around a task, outermost first; `[]` is the workflow itself. */
export type BodyPath = readonly string[];

/** The ids from the outermost container to the task, joined by dots: `refine.draft`. */
export type TaskPath = string;
