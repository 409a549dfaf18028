/** Why the workflow on the page cannot be changed here. */
import { type PageFacts, useStudio } from "./studio";

const BY_ROLE = "Your role in this workspace does not allow changes.";

/** The reason, for buttons and notices; undefined where it can be changed. */
export function readOnlyReason(page: PageFacts): string | undefined {
  if (page.canEdit) return undefined;
  return page.origin ? `This workflow comes from code: ${page.origin}.` : BY_ROLE;
}

export const useRefusal = (): string | undefined =>
  useStudio((state) => readOnlyReason(state.page));
