import type { PageFacts } from "../store/studio";

/** Read the attributes that the server wrote on the page's root element. */
export function factsOf(root: HTMLElement): PageFacts {
  const told = root.dataset;
  const yes = (name: string): boolean => told[name] === "true";
  return {
    workflowId: told.workflow || null,
    workspaceId: told.workspace || null,
    origin: told.origin ?? "",
    canTakeOver: yes("canTakeOver"),
    gitCommit: told.gitCommit ?? "",
    gitRepository: told.gitRepository ?? "",
    fromGit: yes("fromGit"),
    publishedFromGit: yes("publishedFromGit"),
    canEdit: yes("canEdit"),
    canRun: yes("canRun"),
    canPublish: yes("canPublish"),
    canOperate: yes("canOperate"),
    canSeePayloads: yes("canSeePayloads"),
    canConfigure: yes("canConfigure"),
    credentialTypes: JSON.parse(told.credentialTypes ?? "[]"),
    username: told.username ?? "",
    signIn: told.signIn ?? "",
    home: told.home ?? "",
    admin: told.admin ?? "",
    executionPage: told.executionPage ?? "",
    canaryVersion: Number(told.canaryVersion ?? 0),
    canaryPercent: Number(told.canaryPercent ?? 0),
    migratePage: told.migratePage ?? "",
    hasCanaries: yes("hasCanaries"),
    hasBacktests: yes("hasBacktests"),
    workflowPage: told.workflowPage ?? "",
    credentialsPage: told.credentialsPage ?? "",
  };
}
