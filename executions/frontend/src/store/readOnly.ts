/** Why the page's workflow cannot be changed. */
import { t } from "../words/t";
import { type PageFacts, useStudio } from "./studio";

const BY_ROLE = t("store.yourRoleInThisWorkspaceDoes");

/** Return the reason, for buttons and notices; undefined if the workflow can be changed. */
export function readOnlyReason(page: PageFacts): string | undefined {
  if (page.canEdit) return undefined;
  return page.origin ? t("store.thisWorkflowComesFromCode", { origin: page.origin }) : BY_ROLE;
}

/** Return the reason why no version can be published here; undefined if one can. */
export function publishRefusal(page: PageFacts): string | undefined {
  if (page.publishedFromGit) return t("store.onlyGitPublishes");
  return readOnlyReason(page);
}

export const usePublishRefusal = (): string | undefined =>
  useStudio((state) => publishRefusal(state.page));

export const useRefusal = (): string | undefined =>
  useStudio((state) => readOnlyReason(state.page));
