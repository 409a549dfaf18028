/** Why the workflow on the page cannot be changed here. */
import { t } from "../words/t";
import { type PageFacts, useStudio } from "./studio";

const BY_ROLE = t("store.yourRoleInThisWorkspaceDoes");

/** The reason, for buttons and notices; undefined where it can be changed. */
export function readOnlyReason(page: PageFacts): string | undefined {
  if (page.canEdit) return undefined;
  return page.origin ? t("store.thisWorkflowComesFromCode", { origin: page.origin }) : BY_ROLE;
}

/** Why no version of it can be published here; undefined where one can. */
export function publishRefusal(page: PageFacts): string | undefined {
  if (page.publishedFromGit) return t("store.onlyGitPublishes");
  return readOnlyReason(page);
}

export const usePublishRefusal = (): string | undefined =>
  useStudio((state) => publishRefusal(state.page));

export const useRefusal = (): string | undefined =>
  useStudio((state) => readOnlyReason(state.page));
