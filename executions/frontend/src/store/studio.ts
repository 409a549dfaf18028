/**
 * What the studio knows, in one store; components read slices of it and change it by its actions.
 *
 * The document changes through `edit` alone, so that every change is one undo step and nothing else
 * has to know of undo, saving or validation.
 */
import { create } from "zustand";
import type { ModuleType, Problem, WorkflowSummary } from "../api/shapes";
import { emptyDocument } from "../document/reading";
import type { Definition, TaskPath } from "../document/types";
import { begin, type History, redone, stepped, undone } from "./history";
import { type ChosenEdge, clean, NOTHING, type Selection } from "./selection";

/** What a new credential of a type is asked for. */
export interface CredentialType {
  name: string;
  title: string;
  /** None where any may be given. */
  fields: readonly string[];
  optional: readonly string[];
  /** Those that are no secrets, such as a user name. */
  known: readonly string[];
  /** Whether the server knows the hosts that it may go to. */
  suggestsHosts: boolean;
  /** Patterns of the modules that can use it without naming it: it gives values of any kind. */
  modules: readonly string[];
}

/** What the page was opened with: from the attributes of its root element. */
export interface PageFacts {
  workflowId: string | null;
  workspaceId: string | null;
  /** Where its code is, with the line; "" where people edit it. */
  origin: string;
  canTakeOver: boolean;
  /** The Git commit of the bundle that brought it, `abc1234`; "" where none did or it has none. */
  gitCommit: string;
  gitRepository: string;
  /** Whether a bundle brought it. */
  fromGit: boolean;
  /** Whether only bundles publish it. */
  publishedFromGit: boolean;
  canEdit: boolean;
  canRun: boolean;
  canPublish: boolean;
  /** Pause, cancel, fork, roll back. */
  canOperate: boolean;
  /** Sees inputs, outputs and variables. */
  canSeePayloads: boolean;
  /** Makes credentials in the workspace. */
  canConfigure: boolean;
  credentialTypes: readonly CredentialType[];
  username: string;
  signIn: string;
  home: string;
  admin: string;
  /** The admin's pages, with a zero UUID for the id. */
  executionPage: string;
  /** The version that a share of the starts takes, when the page was loaded; 0 without one. */
  canaryVersion: number;
  canaryPercent: number;
  /** Where live executions are migrated to another version; empty where nobody can. */
  migratePage: string;
  /** Whether a share of the starts can take a version, and versions be rolled back: a plugin. */
  hasCanaries: boolean;
  /** Whether drafts can be compared with past executions: a plugin. */
  hasBacktests: boolean;
  workflowPage: string;
  credentialsPage: string;
}

export type Saving =
  | "saved"
  | "unsaved"
  | "saving"
  | "conflict"
  | "offline"
  | "signed-out"
  | "error";
export type Panel = "inspector" | "workflow" | "run" | "versions";
export type View = "canvas" | "list" | "yaml";
export type DialogName =
  | "publish"
  | "backtest"
  | "run"
  | "keys"
  | "find"
  | "conflict"
  | "versions"
  | "connect"
  | "import"
  | "report"
  | "name"
  | "generate";

export interface FoundProblem extends Problem {
  /** The task it is at, or null for the workflow itself. */
  task: TaskPath | null;
  /** Keys below the task (or the workflow): `["with", "url"]`. */
  pointer: readonly (string | number)[];
  level: "error" | "warning";
  source: "client" | "server";
  /** The edge it is about, where it is about one. */
  edge?: ChosenEdge;
}

export interface StudioState {
  page: PageFacts;
  workflow: WorkflowSummary | null;
  etag: string;
  types: ReadonlyMap<string, ModuleType>;
  history: History<Definition>;
  /** The document the server has; the same object as the present one means "saved". */
  stored: Definition;
  selection: Selection;
  saving: Saving;
  savingError: string;
  problems: readonly FoundProblem[];
  /** Where the focus should go when the inspector shows it: below the selected task. */
  wantedField: readonly (string | number)[] | null;
  view: View;
  panel: Panel;
  dialog: DialogName | null;
  collapsed: ReadonlySet<TaskPath>;

  load(workflow: WorkflowSummary, document: Definition, etag: string): void;
  /** Replace the document by `change` of it; steps with the same `merge` close together are one. */
  edit(change: (document: Definition) => Definition, merge?: string): void;
  undo(): void;
  redo(): void;
  select(selection: Partial<Selection>): void;
  /** Select one task, show it, and focus a field of it. */
  goTo(task: TaskPath | null, pointer?: readonly (string | number)[]): void;
  set(changes: Partial<Omit<StudioState, "history">>): void;
}

const EMPTY = emptyDocument("");

export const useStudio = create<StudioState>()((set, get) => ({
  page: NOWHERE(),
  workflow: null,
  etag: "",
  types: new Map(),
  history: begin(EMPTY),
  stored: EMPTY,
  selection: NOTHING,
  saving: "saved",
  savingError: "",
  problems: [],
  wantedField: null,
  view: "canvas",
  panel: "inspector",
  dialog: null,
  collapsed: new Set(),

  load: (workflow, document, etag) =>
    set({
      workflow,
      etag,
      history: begin(document),
      stored: document,
      saving: "saved",
      selection: NOTHING,
    }),
  edit: (change, merge) => {
    if (!get().page.canEdit) return;
    move(stepped(get().history, change(get().history.present), Date.now(), merge ?? null));
  },
  undo: () => move(undone(get().history)),
  redo: () => move(redone(get().history)),
  select: (selection) => set({ selection: { ...NOTHING, ...selection }, panel: "inspector" }),
  goTo: (task, pointer = []) =>
    set({
      selection: task === null ? NOTHING : { ...NOTHING, tasks: [task] },
      panel: task === null ? "workflow" : "inspector",
      wantedField: pointer,
    }),
  set: (changes) => set(changes),
}));

/** Go to another state of the history; what is selected and whether it is saved follow. */
function move(history: History<Definition>): void {
  const { history: before, stored, selection, saving } = useStudio.getState();
  if (history === before) return;
  const kept = saving === "conflict" || saving === "signed-out" || saving === "offline";
  useStudio.setState({
    history,
    selection: clean(selection, history.present),
    saving: kept ? saving : history.present === stored ? "saved" : "unsaved",
  });
}

function NOWHERE(): PageFacts {
  return {
    workflowId: null,
    workspaceId: null,
    origin: "",
    canTakeOver: false,
    gitCommit: "",
    gitRepository: "",
    fromGit: false,
    publishedFromGit: false,
    canEdit: false,
    canRun: false,
    canPublish: false,
    canOperate: false,
    canSeePayloads: false,
    canConfigure: false,
    credentialTypes: [],
    username: "",
    signIn: "",
    home: "",
    admin: "",
    executionPage: "",
    canaryVersion: 0,
    canaryPercent: 0,
    migratePage: "",
    hasCanaries: false,
    hasBacktests: false,
    workflowPage: "",
    credentialsPage: "",
  };
}

/** The document as it is now; re-renders when it changes. */
export const useDocument = (): Definition => useStudio((state) => state.history.present);
