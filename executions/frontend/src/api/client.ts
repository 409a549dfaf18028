/** Requests to the HTTP API with the browser's session. */
import { t } from "../words/t";
import { addressOf, csrfHeader } from "./place";
import type { Problem } from "./shapes";

/** An error response of the API; `status` is 0 if the server could not be reached. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly code = "",
    readonly errors: readonly Problem[] = [],
    readonly body: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
  }

  /** Whether the session ended, or belongs to another account since the page was loaded. */
  get signedOut(): boolean {
    return this.status === 401 || (this.status === 403 && this.detail.startsWith("CSRF"));
  }
}

/** Return the message of an error for the user. */
export const wordsOf = (error: unknown): string =>
  error instanceof Refused ? error.detail : String(error);

export interface Answer<T> {
  data: T;
  etag: string | null;
  headers: Headers;
}

export interface Asking {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  json?: unknown;
  /** A body that is not JSON, with its `Content-Type`. */
  text?: { body: string; type: string };
  accept?: string;
  etag?: string;
  /** Requests with the same key have their effect only once. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Send a request. Raises Refused with the API's error message, or AbortError if it was aborted. */
export async function ask<T>(address: string, asking: Asking = {}): Promise<Answer<T>> {
  const response = await reach(address, asking);
  if (!response.ok) throw await refusal(response);
  const etag = response.headers.get("ETag");
  const data = (await content(response)) as T;
  return { data, etag, headers: response.headers };
}

async function reach(address: string, asking: Asking): Promise<Response> {
  const headers: Record<string, string> = { Accept: asking.accept ?? "application/json" };
  const method = asking.method ?? "GET";
  let body: string | undefined;
  if (asking.json !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(asking.json);
  } else if (asking.text) {
    headers["Content-Type"] = asking.text.type;
    body = asking.text.body;
  }
  if (method !== "GET") Object.assign(headers, csrfHeader());
  if (asking.etag) headers["If-Match"] = asking.etag;
  if (asking.idempotencyKey) headers["Idempotency-Key"] = asking.idempotencyKey;
  try {
    return await fetch(addressOf(address), {
      method,
      headers,
      body: body ?? null,
      signal: asking.signal ?? null,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(0, t("api.theServerCannotBeReached"), "unreachable");
  }
}

async function content(response: Response): Promise<unknown> {
  if (response.status === 204) return null;
  const type = response.headers.get("Content-Type") ?? "";
  return type.includes("json") ? response.json() : response.text();
}

async function refusal(response: Response): Promise<Refused> {
  const said = t("api.theServerAnswered", { status: response.status });
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const errors = Array.isArray(body.errors) ? (body.errors as Problem[]) : [];
  const detail = typeof body.detail === "string" ? body.detail : said;
  return new Refused(response.status, detail, String(body.code ?? ""), errors, body);
}
