/** Responses of the HTTP API, limited to the fields that the studio and the monitor read. */
import type { Json, JsonObject } from "../document/types";

export interface ModuleType {
  type: string;
  title: string;
  category: string;
  description: string;
  queue: string;
  inline: boolean;
  effect: "none" | "idempotent" | "database" | "external";
  outcomes: string[];
  writesVariables: boolean;
  retry: string;
  timeoutSeconds: number;
  credential: string[];
  takesSecrets: boolean;
  circuitTarget: string;
  example: JsonObject;
  inputsSchema: JsonObject;
  outputsSchema: JsonObject | null;
  container?: "" | "loop" | "map";
  /** Whether its steps can wait without occupying a worker. */
  waits?: boolean;
  /** Keys of `with` whose templates are rendered later, in another scope. */
  deferred?: string[];
  icon?: string;
}

export interface WorkflowSummary {
  id: string;
  workspaceId: string;
  name: string;
  slug: string;
  description: string;
  /** The code that publishes the workflow, such as `shop.flows:fulfil`; "" if people edit it. */
  origin: string;
  enabled: boolean;
  latestVersion: number | null;
  createdAt: string;
  updatedAt: string;
}

export interface Workflow extends WorkflowSummary {
  definition: JsonObject;
}

/** A problem in a definition; `path` is, for example, `tasks[3].with.url`. */
export interface Problem {
  path: string;
  code: string;
  message: string;
}

export interface Validation {
  valid: boolean;
  problems: Problem[];
  warnings: Problem[];
  /** The checksum that a version of this definition would have; null if it has problems. */
  checksum: string | null;
}

export interface Published {
  version: number;
  checksum: string;
  warnings: Problem[];
}

export interface VersionSummary {
  id: string;
  workflowId: string;
  version: number;
  kind: "published" | "test";
  checksum: string;
  createdAt: string;
  publishedBy?: string | null;
}

export interface Version extends VersionSummary {
  source: JsonObject;
  definition: JsonObject;
}

export interface Execution {
  id: string;
  workflowId: string;
  state: string;
  [key: string]: Json;
}

export interface GraphStep {
  /** The step's path without iterations, such as `refine.draft.main`. */
  path: string;
  module: string;
}

export interface GraphNode {
  /** The task's path without iterations; `refine.draft` is in the body of `refine`. */
  path: string;
  title: string;
  module: string;
  container: "" | "loop" | "map";
  parent: string;
  steps: GraphStep[];
  /** The module type of the undo step; "" if there is none. */
  undo: string;
}

export interface GraphEdge {
  from: string;
  to: string;
  /** The outcome that selects the edge; "" means success. */
  label: string;
}

/** The graph of an execution's version; each container precedes the tasks in its body. */
export interface GraphShape {
  versionId: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** The run's details that pages read; a hidden payload is `{"$hidden": reason}`. */
export interface RunShape {
  id: string;
  inputs: Json;
  outputs: Json;
  logs: Json;
  error: string;
  errorDetails: Json;
  costTokens: number;
}

export interface Reason {
  message: string;
  /** The time of the next automatic change, if it is known. */
  until: string | null;
}

/** The reason why an execution does not progress. */
export interface Explanation {
  reason: Reason;
  steps: { path: string; runId: string | null; state: string | null; reason: Reason }[];
  truncated: boolean;
}
