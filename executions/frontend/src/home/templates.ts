/** The example workflows that come with Valkyr. */
import { ask } from "../api/client";
import { modulesOf } from "../document/modules";
import { everyTask } from "../document/paths";
import { read } from "../document/reading";
import type { Definition, JsonObject } from "../document/types";

export interface Template {
  name: string;
  title: string;
  description: string;
  tags: string[];
  definition: JsonObject;
}

export const listTemplates = async (): Promise<Template[]> =>
  (await ask<Template[]>("v1/WorkflowTemplate")).data;

/** Return an example as the draft of a workflow with this name. */
export const begunWith = (template: Template, name: string): Definition => ({
  ...read(template.definition, name),
  name,
});

/** Return the different modules of an example, in the order of its tasks. */
export function modulesIn(template: Template): string[] {
  const tasks = everyTask(read(template.definition, template.name));
  return [...new Set(tasks.flatMap(({ task }) => modulesOf(task).map((module) => module.use)))];
}
