/** The schema of a step's settings, with the module's own values as defaults. Pure. */
import type { ModuleType } from "../../api/shapes";
import type { Json, JsonObject } from "../../document/types";
import type { Secret } from "../../expressions/scope";
import type { CredentialType } from "../../store/studio";
import { t } from "../../words/t";
import { offeredTypes } from "../credential/asked";
import { partOf } from "../schema";

const KEYS = ["retry", "timeoutSeconds", "credential", "queue", "cache", "circuitWaitSeconds"];

/** Return the schema for one module, or for a task whose settings apply to all its modules. */
export function runningSchema(
  workflow: JsonObject,
  type: ModuleType | undefined,
  secrets: readonly Secret[] | null,
  kinds: readonly CredentialType[],
): JsonObject {
  const all = partOf(workflow, "$defs", "module", "properties");
  const properties: JsonObject = {};
  for (const key of KEYS) properties[key] = { ...(all[key] as JsonObject) };
  const own = type ? { retry: type.retry, timeoutSeconds: type.timeoutSeconds } : undefined;
  properties.retry = withDefault(retryOf(partOf(all, "retry")), own?.retry);
  properties.timeoutSeconds = withDefault(partOf(all, "timeoutSeconds"), own?.timeoutSeconds);
  properties.queue = withDefault(partOf(all, "queue"), type?.queue);
  const credential = credentialOf(partOf(all, "credential"), type, secrets, kinds);
  if (type?.credential.length === 0) delete properties.credential;
  else properties.credential = credential;
  if (type && !type.circuitTarget) delete properties.circuitWaitSeconds;
  return { type: "object", properties };
}

/** Return the schema of `join`, which says whether all incoming edges must be taken. */
export const joinSchema = (workflow: JsonObject): JsonObject => ({
  type: "object",
  properties: {
    join: { ...partOf(workflow, "$defs", "task", "properties", "join"), default: "any" },
  },
});

const withDefault = (schema: JsonObject, value: Json | undefined): JsonObject =>
  value === undefined || value === "" ? schema : { ...schema, default: value };

/** Accept the name of a retry policy, or custom values. */
function retryOf(schema: JsonObject): JsonObject {
  const names = partOf(schema, "else", "then").enum ?? [];
  const description = schema.description ?? "";
  return { description, anyOf: [{ enum: names }, { $ref: "#/$defs/retryValues" }] };
}

/** Accept the credentials that the module can use; any name if the credentials are unknown. */
function credentialOf(
  schema: JsonObject,
  type: ModuleType | undefined,
  secrets: readonly Secret[] | null,
  kinds: readonly CredentialType[],
): JsonObject {
  if (secrets === null) return schema;
  const types = type?.credential ?? [];
  const usable = type && [...types, ...offeredTypes(kinds, type).map((kind) => kind.name)];
  const fitting = secrets.filter((one) => !usable || usable.includes(one.type));
  return { description: helpFor(types), enum: fitting.map((one) => one.name) };
}

function helpFor(types: readonly string[]): string {
  if (types.length === 0) return t("inspector.oneOfTheWorkspacesCredentialsOfAnyType");
  return t("inspector.oneOfTheWorkspacesCredentials", {
    types: types.reduce((one, other) => t("inspector.or", { one, other })),
  });
}
