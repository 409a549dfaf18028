/** The workflow definition (`valkyr/1`) as the studio edits it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** What the studio alone reads of a task: its place (in its body's plane) and size, in pixels. */
export interface TaskUi {
  x?: number;
  y?: number;
  note?: string;
  collapsed?: boolean;
  [key: string]: Json | undefined;
}

/** A sticky note; it stands on a body's plane. */
export interface Note {
  id: string;
  x: number;
  y: number;
  w: number;
  h: number;
  text: string;
  color?: "yellow" | "blue" | "green" | "pink" | "grey";
}

/** What a module and a task may both say of how a step runs. */
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

/** Either `use` and `with`, short for one module with the id `main`, or `modules`. */
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

/** Taken when the outcome of `from` equals `on`; without `on` that is `success`. */
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

/** Tasks and the edges between them: a workflow's, or a container's. */
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

/** The ids of the containers around something, outermost first; `[]` is the workflow itself. */
export type BodyPath = readonly string[];

/** A task by the ids from the outermost container to itself, joined by dots: `refine.draft`. */
export type TaskPath = string;
