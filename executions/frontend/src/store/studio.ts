/**
 * The studio's state in one store; components read parts of it and change it with its actions.
 *
 * After loading, only `edit`, `undo` and `redo` change the document, so that every edit is one undo
 * step. Other code need not handle undo, saving and validation.
 */
import { create } from "zustand";
import type { ModuleType, Problem, WorkflowSummary } from "../api/shapes";
import { emptyDocument } from "../document/reading";
import type { Definition, TaskPath } from "../document/types";
import { begin, type History, redone, stepped, undone } from "./history";
import { type ChosenEdge, clean, NOTHING, type Selection } from "./selection";

/** The fields of a credential type. */
export interface CredentialType {
  name: string;
  title: string;
  /** Required fields; empty if the type accepts any fields. */
  fields: readonly string[];
  optional: readonly string[];
  /** Fields that are not secret, such as a user name. */
  known: readonly string[];
  /** Whether the server derives the hosts to which its values may be sent. */
  suggestsHosts: boolean;
  /**
   * Patterns of modules that can use this type without naming it, as its values can be anything.
   */
  modules: readonly string[];
}

/** Attributes of the page's root element. */
export interface PageFacts {
  workflowId: string | null;
  workspaceId: string | null;
  /** The code that defines the workflow, with the line; "" if people edit it. */
  origin: string;
  canTakeOver: boolean;
  /** The Git commit of the workflow's bundle, such as `abc1234`; "" without a bundle or commit. */
  gitCommit: string;
  gitRepository: string;
  /** Whether a bundle defines the workflow. */
  fromGit: boolean;
  /** Whether only bundles can publish it. */
  publishedFromGit: boolean;
  canEdit: boolean;
  canRun: boolean;
  canPublish: boolean;
  /** Whether the user may pause, cancel, fork and roll back. */
  canOperate: boolean;
  /** Whether the user may see inputs, outputs and variables. */
  canSeePayloads: boolean;
  /** Whether the user may create credentials in the workspace. */
  canConfigure: boolean;
  credentialTypes: readonly CredentialType[];
  username: string;
  signIn: string;
  home: string;
  admin: string;
  /** The address of executions' pages, with a zero UUID as placeholder for the id. */
  executionPage: string;
  /** The canary version when the page was loaded; 0 without one. */
  canaryVersion: number;
  canaryPercent: number;
  /** The page that migrates live executions to another version; "" without permission. */
  migratePage: string;
  /** Whether the plugin for canaries and rollbacks is enabled. */
  hasCanaries: boolean;
  /** Whether the plugin for backtests is enabled. */
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
  /** The task of the problem; null for the workflow itself. */
  task: TaskPath | null;
  /** The pointer from the task or workflow, such as `["with", "url"]`. */
  pointer: readonly (string | number)[];
  level: "error" | "warning";
  source: "client" | "server";
  /** The edge of the problem, if it concerns one. */
  edge?: ChosenEdge;
}

export interface StudioState {
  page: PageFacts;
  workflow: WorkflowSummary | null;
  etag: string;
  types: ReadonlyMap<string, ModuleType>;
  history: History<Definition>;
  /** The document on the server; the draft is saved if this is the present document's object. */
  stored: Definition;
  selection: Selection;
  saving: Saving;
  savingError: string;
  problems: readonly FoundProblem[];
  /** The field that the inspector will focus, as a pointer from the selected task. */
  wantedField: readonly (string | number)[] | null;
  view: View;
  panel: Panel;
  dialog: DialogName | null;
  collapsed: ReadonlySet<TaskPath>;

  load(workflow: WorkflowSummary, document: Definition, etag: string): void;
  /** Change the document; consecutive edits with the same `merge` key are one undo step. */
  edit(change: (document: Definition) => Definition, merge?: string): void;
  undo(): void;
  redo(): void;
  select(selection: Partial<Selection>): void;
  /** Select and show a task, and focus one of its fields. */
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

/** Set the history, and update the selection and the state of saving. */
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

/** Return the present document; the component renders again when it changes. */
export const useDocument = (): Definition => useStudio((state) => state.history.present);
