/** Operations on workflows and their versions. */
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

/** Fetch all installed module types, or only the given ones. */
export const listModuleTypes = async (types?: readonly string[]): Promise<ModuleType[]> =>
  (await ask<ModuleType[]>(`v1/ModuleType${types ? `?types=${types.join(",")}` : ""}`)).data;

/** Save the draft; raises Refused (412) if somebody changed it since this ETag. */
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

/** Copy a workflow that comes from code into a workflow that people can edit. */
export const takeOver = async (id: string): Promise<Workflow> =>
  (await ask<Workflow>(at(id, "/take-over"), { method: "POST", json: {} })).data;

/** Return the problems and warnings that publishing this definition would report. */
export const validate = async (
  id: string,
  definition: Definition,
  signal?: AbortSignal,
): Promise<Validation> =>
  (await ask<Validation>(at(id, "/validate"), { method: "POST", json: { definition }, signal }))
    .data;

/** The value of a template, or the error. */
export interface Evaluated {
  value: Json;
  /** Whether `value` is only the beginning of a longer text. */
  truncated: boolean;
  error: string | null;
}

/** Evaluate a template with this data, as a step would. */
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

/** Return a schedule's next fire times in ISO 8601, or the error in the schedule. */
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

/** Publish the draft, or, with a number, publish that earlier version again. */
export const publish = async (id: string, again?: number): Promise<Published> =>
  (
    await ask<Published>(at(id, "/publish"), {
      method: "POST",
      json: again === undefined ? {} : { version: again },
    })
  ).data;

/** Withdraw the version; new executions then use the version before it, `goodVersion`. */
export const rollBack = async (id: string, version: number): Promise<{ goodVersion: number }> =>
  (
    await ask<{ goodVersion: number }>(at(id, "/rollbacks"), {
      method: "POST",
      json: { version },
    })
  ).data;

/** A version for a share of new executions, limited to the fields that the studio reads. */
export interface Canary {
  version: number;
  percent: number;
}

/** Publish the draft for a percentage of new executions; the default rule may stop the canary. */
export const publishCanary = async (id: string, percent: number): Promise<Canary> =>
  (await ask<Canary>(at(id, "/canary"), { method: "POST", json: { percent } })).data;

/**
 * Promote the canary to the latest version, or stop it, so that all new executions use the latest.
 */
export const endCanary = async (id: string, how: "promote" | "stop"): Promise<Canary> =>
  (await ask<Canary>(at(id, `/canary/${how}`), { method: "POST", json: {} })).data;

/** The number of live executions of one version. */
export interface LiveVersion {
  version: number;
  executions: number;
}

/** Return the versions that live executions run, newest first. */
export const liveVersions = async (id: string): Promise<LiveVersion[]> =>
  (await ask<LiveVersion[]>(at(id, "/live-versions"))).data;

/** List the versions, newest first; `next` is the address of a later page, from `nextPage`. */
export const listVersions = (id: string, next?: string): Promise<Answer<VersionSummary[]>> =>
  ask(next ?? at(id, "/versions"));

/** Return the next page's address from the `Link` header, or null. */
export const nextPage = (headers: Headers): string | null =>
  /<([^>]+)>;\s*rel="next"/.exec(headers.get("Link") ?? "")?.[1] ?? null;

export const getVersion = async (id: string, number: number): Promise<Version> =>
  (await ask<Version>(at(id, `/versions/${number}`))).data;
