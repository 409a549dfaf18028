/** What the HTTP API answers with, as far as the studio reads it. */
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
  /** May end in a wait that holds no worker. */
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
  /** The code that publishes it, as `shop.flows:fulfil`; "" where people edit it. */
  origin: string;
  enabled: boolean;
  latestVersion: number | null;
  createdAt: string;
  updatedAt: string;
}

export interface Workflow extends WorkflowSummary {
  definition: JsonObject;
}

/** A mistake in a definition; `path` is like `tasks[3].with.url`. */
export interface Problem {
  path: string;
  code: string;
  message: string;
}

export interface Validation {
  valid: boolean;
  problems: Problem[];
  warnings: Problem[];
  /** What a version of it would have; null where there are problems. */
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
  /** Without turns: `refine.draft.main`. */
  path: string;
  module: string;
}

export interface GraphNode {
  /** Without turns: `refine.draft` stands in `refine`. */
  path: string;
  title: string;
  module: string;
  container: "" | "loop" | "map";
  parent: string;
  steps: GraphStep[];
  /** The module that undoes it; "" where none does. */
  undo: string;
}

export interface GraphEdge {
  from: string;
  to: string;
  /** The outcome on which it is taken; "" is success. */
  label: string;
}

/** The graph of the version that an execution runs; containers before what stands in them. */
export interface GraphShape {
  versionId: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** A run in full, as far as pages read it; a payload that is not shown is `{"$hidden": why}`. */
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
  /** When it changes by itself, where that is known. */
  until: string | null;
}

/** Why an execution does not go on. */
export interface Explanation {
  reason: Reason;
  steps: { path: string; runId: string | null; state: string | null; reason: Reason }[];
  truncated: boolean;
}
