/** What the HTTP API answers with, as far as the studio reads it. */
import type { Json, JsonObject } from "../document/types";

export interface ModuleType {
  type: string;
  title: string;
  category: string;
  description: string;
  queue: string;
  inline: boolean;
  effect: "none" | "idempotent" | "external";
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
