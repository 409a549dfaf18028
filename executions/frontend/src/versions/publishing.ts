/** Prepares and publishes a version of the draft. */
import { Refused } from "../api/client";
import { getVersion, publish, publishCanary, validate } from "../api/workflows";
import { read } from "../document/reading";
import type { Definition } from "../document/types";
import { check } from "../problems/check";
import { merged } from "../problems/merge";
import { located } from "../problems/places";
import { save } from "../saving/useSaving";
import { type FoundProblem, useStudio } from "../store/studio";
import { t } from "../words/t";
import { setCanary } from "./canary";
import { offerUndo } from "./undoing";

/** The newest published version, for the comparison. */
export interface Latest {
  number: number;
  document: Definition;
  checksum: string;
}

/** What is known before publishing: the problems, and the latest version. */
export interface Prepared {
  problems: FoundProblem[];
  latest: Latest | null;
  /** Whether the new version would run like the latest one; at most `ui` differs. */
  unchanged: boolean;
}

export type Outcome =
  | { kind: "published"; version: number; percent: number | null; warnings: FoundProblem[] }
  | { kind: "unchanged"; message: string }
  | { kind: "problems"; problems: FoundProblem[] };

/**
 * Save and check the draft, and load the latest version; return an error message if saving failed.
 */
export async function prepare(): Promise<Prepared | string> {
  if (!(await save())) return t("versions.theDraftCouldNotBeSaved");
  const { workflow, history } = useStudio.getState();
  if (!workflow) return t("versions.thereIsNoWorkflow");
  const document = history.present;
  const [found, latest] = await Promise.all([
    validate(workflow.id, document),
    latestOf(workflow.id, workflow.latestVersion),
  ]);
  const told = [
    ...located(found.problems, "error", document),
    ...located(found.warnings, "warning", document),
  ];
  // Use the same messages as the list of problems.
  const own = check(document, useStudio.getState().types);
  return {
    problems: merged(document, own, { document, problems: told }),
    latest,
    unchanged: latest !== null && found.checksum === latest.checksum,
  };
}

async function latestOf(id: string, number: number | null): Promise<Latest | null> {
  if (number === null) return null;
  const version = await getVersion(id, number);
  return { number, document: read(version.source, ""), checksum: version.checksum };
}

/**
 * Publish the saved draft; with a percentage, only for that share of new executions.
 *
 * Returns problems, or that nothing changed, as an outcome. Raises Refused for other errors.
 */
export async function publishNow(percent: number | null): Promise<Outcome> {
  const { workflow, stored } = useStudio.getState();
  if (!workflow) throw new Refused(1, t("versions.thereIsNoWorkflow"));
  try {
    if (percent !== null) {
      const canary = await publishCanary(workflow.id, percent);
      setCanary(canary);
      return { kind: "published", version: canary.version, percent, warnings: [] };
    }
    const { version, warnings } = await publish(workflow.id);
    setCanary(null);
    useStudio.setState({ workflow: { ...workflow, latestVersion: version } });
    offerUndo(version, workflow.latestVersion);
    return { kind: "published", version, percent, warnings: located(warnings, "warning", stored) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === "unchanged") return { kind: "unchanged", message: error.detail };
    if (error.errors.length === 0) throw error;
    return { kind: "problems", problems: located(error.errors, "error", stored) };
  }
}
