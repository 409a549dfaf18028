/** The credentials of the workspace by name: for `secrets.…` and for what modules take. */
import { useEffect } from "react";
import { create } from "zustand";
import { ask } from "../api/client";
import type { Secret } from "../expressions/scope";
import { useStudio } from "../store/studio";

interface Credentials {
  secrets: readonly Secret[];
  state: "unasked" | "asked" | "known" | "refused";
}

/** What is asked to make one. */
export interface NewCredentialOrder {
  name: string;
  type: string;
  fields: Readonly<Record<string, string>>;
  /** Left out: those of its type. */
  hosts?: readonly string[];
}

/** Make a credential in the workspace; the answer tells no value. Raises Refused. */
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

/** Names, types and fields; asked for once, when something first needs them. */
export function useCredentials(): Credentials {
  const known = useStore();
  useEffect(() => {
    if (useStore.getState().state === "unasked") void fetchCredentials();
  }, []);
  return known;
}

/** Ask again: one may have been made in another tab. */
export async function fetchCredentials(): Promise<void> {
  useStore.setState({ state: "asked" });
  const { workspaceId } = useStudio.getState().page;
  try {
    const { data } = await ask<CredentialRow[]>("v1/Credential?limit=200");
    const ours = data.filter((one) => workspaceId === null || one.workspaceId === workspaceId);
    useStore.setState({ secrets: ours, state: "known" });
  } catch {
    // Who may not see credentials writes their names by hand.
    useStore.setState({ secrets: [], state: "refused" });
  }
}
