/** The workspace's credentials, for `secrets.…` in templates and for modules. */
import { useEffect } from "react";
import { create } from "zustand";
import { ask } from "../api/client";
import type { Secret } from "../expressions/scope";
import { useStudio } from "../store/studio";

interface Credentials {
  secrets: readonly Secret[];
  state: "unasked" | "asked" | "known" | "refused";
}

/** The request for a new credential. */
export interface NewCredentialOrder {
  name: string;
  type: string;
  fields: Readonly<Record<string, string>>;
  /** Omitted if the credential type provides the hosts. */
  hosts?: readonly string[];
}

/** Create a credential in the workspace; the response contains no values. Raises Refused. */
export async function makeCredential(order: NewCredentialOrder): Promise<void> {
  const { workspaceId } = useStudio.getState().page;
  const json = { ...order, ...(workspaceId === null ? {} : { workspaceId }) };
  await ask("v1/Credential", { method: "POST", json });
  await fetchCredentials();
}

interface CredentialRow extends Secret {
  workspaceId: string;
}

const useStore = create<Credentials>()(() => ({ secrets: [], state: "unasked" }));

/** Return names, types and fields; they are loaded when first needed. */
export function useCredentials(): Credentials {
  const known = useStore();
  useEffect(() => {
    if (useStore.getState().state === "unasked") void fetchCredentials();
  }, []);
  return known;
}

/** Load the credentials again, for example after one was created. */
export async function fetchCredentials(): Promise<void> {
  useStore.setState({ state: "asked" });
  const { workspaceId } = useStudio.getState().page;
  try {
    const { data } = await ask<CredentialRow[]>("v1/Credential?limit=200");
    const ours = data.filter((one) => workspaceId === null || one.workspaceId === workspaceId);
    useStore.setState({ secrets: ours, state: "known" });
  } catch {
    // A user without the right to see credentials types their names.
    useStore.setState({ secrets: [], state: "refused" });
  }
}
