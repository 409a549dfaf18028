import { useStudio } from "../store/studio";
import { notice } from "./notice";

/** Ask what the selected task is to be connected to; says what is missing where that cannot be. */
export function askConnection(): void {
  const { selection, page, set } = useStudio.getState();
  if (!page.canEdit) notice("Your role in this workspace does not allow changes.");
  else if (selection.tasks.length !== 1) notice("Select one task to connect it.");
  else set({ dialog: "connect" });
}
