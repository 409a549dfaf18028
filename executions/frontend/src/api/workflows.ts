/** The operations on workflows and their versions. */
import type { Definition, Json, JsonObject } from "../document/types";
import { type Answer, ask } from "./client";
import type {
  ModuleType,
  Published,
  Validation,
  Version,
  VersionSummary,
  Workflow,
  WorkflowSummary,
} from "./shapes";

const at = (id: string, rest = ""): string => `v1/Workflow/${id}${rest}`;

export const getWorkflow = (id: string): Promise<Answer<Workflow>> => ask(at(id));

export const listWorkflows = (query = ""): Promise<Answer<WorkflowSummary[]>> =>
  ask(`v1/Workflow${query}`);

/** All installed modules, or those of some types. */
export const listModuleTypes = async (types?: readonly string[]): Promise<ModuleType[]> =>
  (await ask<ModuleType[]>(`v1/ModuleType${types ? `?types=${types.join(",")}` : ""}`)).data;

/** Save the draft; a 412 (Refused) when somebody changed it since this ETag. */
export const saveDraft = (
  id: string,
  changes: { name?: string; definition?: Definition },
  etag: string,
): Promise<Answer<Workflow>> => ask(at(id), { method: "PATCH", json: changes, etag });

export const createWorkflow = (
  name: string,
  definition: Definition,
  workspaceId?: string,
): Promise<Answer<Workflow>> =>
  ask("v1/Workflow", {
    method: "POST",
    json: { name, definition, ...(workspaceId ? { workspaceId } : {}) },
  });

/** Copy a workflow that comes from code into one that people edit. */
export const takeOver = async (id: string): Promise<Workflow> =>
  (await ask<Workflow>(at(id, "/take-over"), { method: "POST", json: {} })).data;

/** Every problem and warning of a definition, as publishing would find them. */
export const validate = async (
  id: string,
  definition: Definition,
  signal?: AbortSignal,
): Promise<Validation> =>
  (await ask<Validation>(at(id, "/validate"), { method: "POST", json: { definition }, signal }))
    .data;

/** A template's value, or why it has none. */
export interface Evaluated {
  value: Json;
  /** The value is the beginning of a longer text. */
  truncated: boolean;
  error: string | null;
}

/** Evaluate a template on these data as a step would. */
export const evaluate = async (
  id: string,
  template: string,
  scope: JsonObject,
  signal: AbortSignal,
): Promise<Evaluated> =>
  (
    await ask<Evaluated>(at(id, "/evaluate"), {
      method: "POST",
      json: { template, scope },
      signal,
    })
  ).data;

/** When a schedule would fire next, as ISO 8601; or what is wrong with it. */
export const nextTimes = async (
  id: string,
  trigger: unknown,
  signal: AbortSignal,
): Promise<{ times: string[]; error: string | null }> =>
  (
    await ask<{ times: string[]; error: string | null }>(at(id, "/next-times"), {
      method: "POST",
      json: { trigger },
      signal,
    })
  ).data;

/** Publish the draft; with a number, that earlier version again. */
export const publish = async (id: string, again?: number): Promise<Published> =>
  (
    await ask<Published>(at(id, "/publish"), {
      method: "POST",
      json: again === undefined ? {} : { version: again },
    })
  ).data;

/** Withdraw the version: the one before it, `goodVersion`, runs again. */
export const rollBack = async (id: string, version: number): Promise<{ goodVersion: number }> =>
  (
    await ask<{ goodVersion: number }>(at(id, "/rollbacks"), {
      method: "POST",
      json: { version },
    })
  ).data;

/** A version that a share of the starts takes, as far as the studio reads it. */
export interface Canary {
  version: number;
  percent: number;
}

/** Publish the draft for a share of the starts, in per cent; the default rule may stop it. */
export const publishCanary = async (id: string, percent: number): Promise<Canary> =>
  (await ask<Canary>(at(id, "/canary"), { method: "POST", json: { percent } })).data;

/** Make the canary the latest version, or let all starts take the latest version again. */
export const endCanary = async (id: string, how: "promote" | "stop"): Promise<Canary> =>
  (await ask<Canary>(at(id, `/canary/${how}`), { method: "POST", json: {} })).data;

/** How many live executions one version has. */
export interface LiveVersion {
  version: number;
  executions: number;
}

/** The versions that live executions are on, newest first. */
export const liveVersions = async (id: string): Promise<LiveVersion[]> =>
  (await ask<LiveVersion[]>(at(id, "/live-versions"))).data;

/** The versions, newest first; `next` is the address of a later page, from `nextPage`. */
export const listVersions = (id: string, next?: string): Promise<Answer<VersionSummary[]>> =>
  ask(next ?? at(id, "/versions"));

/** The address of the page behind this one, or null; from the `Link` header. */
export const nextPage = (headers: Headers): string | null =>
  /<([^>]+)>;\s*rel="next"/.exec(headers.get("Link") ?? "")?.[1] ?? null;

export const getVersion = async (id: string, number: number): Promise<Version> =>
  (await ask<Version>(at(id, `/versions/${number}`))).data;
