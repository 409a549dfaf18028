import { modulesOf, withModule } from "./modules";
import { withTask } from "./paths";
import type { Body, BodyPath, Definition, Json, JsonObject, Task } from "./types";

type Change = (text: string) => string;

/** Inputs of a container whose templates are rendered in its body. */
const CONDITIONS: ReadonlySet<string> = new Set(["while", "until"]);

/** Change a task's id in a body: in the task itself, in its edges, and in templates. */
export function renamed(body: Body, old: string, id: string): Body {
  const changed = inBody(body, old, inText(old, id));
  return {
    ...changed,
    tasks: changed.tasks.map((task) => (task.id === old ? { ...task, id } : task)),
    edges: (body.edges ?? []).map((edge) => ({
      ...edge,
      from: edge.from === old ? id : edge.from,
      to: edge.to === old ? id : edge.to,
    })),
  };
}

/** Change a task's id where its body is read from outside: in a loop's condition or the output. */
export function renamedAround(
  document: Definition,
  body: BodyPath,
  old: string,
  id: string,
): Definition {
  const change = inText(old, id);
  if (body.length > 0) {
    return withTask(document, body.join("."), (task) =>
      withCondition(task, inTexts(conditionOf(task), change)),
    );
  }
  const { output } = document;
  return output === undefined ? document : { ...document, output: inTexts(output, change) };
}

const inBody = (body: Body, old: string, change: Change): Body => ({
  ...body,
  tasks: body.tasks.map((task) => inTask(task, old, change)),
});

/** Change the templates of a task, except where the id means a task of its own body. */
function inTask(task: Task, old: string, change: Change): Task {
  const { body, ...own } = task;
  const changed = inTexts(own as unknown as Json, change) as unknown as Task;
  if (!body) return changed;
  const hides = body.tasks.some(({ id }) => id === old);
  return hides
    ? { ...withCondition(changed, conditionOf(task)), body }
    : { ...changed, body: inBody(body, old, change) };
}

const conditionOf = (task: Task): JsonObject =>
  Object.fromEntries(
    Object.entries(modulesOf(task)[0]?.with ?? {}).filter(([key]) => CONDITIONS.has(key)),
  );

const withCondition = (task: Task, condition: JsonObject): Task =>
  Object.keys(condition).length === 0
    ? task
    : withModule(task, 0, (module) => ({ ...module, with: { ...module.with, ...condition } }));

/** Apply `change` to every text in a value; return the same value if no text changed. */
function inTexts<T extends Json>(value: T, change: Change): T {
  if (typeof value === "string") return change(value) as T;
  if (Array.isArray(value)) {
    const items = value.map((item) => inTexts(item, change));
    return items.some((item, at) => item !== value[at]) ? (items as T) : value;
  }
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, item]) => [key, inTexts(item as Json, change)]);
  const source = value as { [key: string]: Json };
  return entries.some(([key, item]) => item !== source[key as string])
    ? (Object.fromEntries(entries) as T)
    : value;
}

/**
 * Replace the id in `tasks.old` and `tasks["old"]` inside `{{ … }}`; other text does not change.
 */
function inText(old: string, id: string): Change {
  const name = old.replace(/[-\\^$*+?.()|[\]{}]/g, "\\$&");
  const dotted = new RegExp(`\\btasks\\.${name}(?![A-Za-z0-9_-])`, "g");
  const quoted = new RegExp(`(\\btasks\\[)(["'])${name}\\2\\]`, "g");
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(id);
  return (text) =>
    text.replace(/\{\{[\s\S]*?\}\}/g, (template) =>
      template
        .replace(quoted, `$1$2${id}$2]`)
        .replace(dotted, isName ? `tasks.${id}` : `tasks["${id}"]`),
    );
}
