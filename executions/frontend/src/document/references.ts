import type { Body, Json, Task } from "./types";

/** Change a task's id in a body: in the task itself, in its edges, and in templates. */
export function renamed(body: Body, old: string, id: string): Body {
  const text = inText(old, id);
  return {
    ...body,
    tasks: body.tasks.map((task) => {
      const changed = inTexts(task as unknown as Json, text) as unknown as Task;
      return task.id === old ? { ...changed, id } : { ...changed, id: task.id };
    }),
    edges: (body.edges ?? []).map((edge) => ({
      ...edge,
      from: edge.from === old ? id : edge.from,
      to: edge.to === old ? id : edge.to,
    })),
  };
}

/** Apply `change` to every text in a value; return the same value if no text changed. */
export function inTexts<T extends Json>(value: T, change: (text: string) => string): T {
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
function inText(old: string, id: string): (text: string) => string {
  const name = old.replace(/[-\\^$*+?.()|[\]{}]/g, "\\$&");
  const dotted = new RegExp(`(\\btasks\\.)${name}(?![A-Za-z0-9_-])`, "g");
  const quoted = new RegExp(`(\\btasks\\[)(["'])${name}\\2\\]`, "g");
  const spelled = /^[A-Za-z_][A-Za-z0-9_]*$/.test(id) ? `$1${id}` : undefined;
  return (text) =>
    text.replace(/\{\{[\s\S]*?\}\}/g, (template) =>
      template
        .replace(quoted, `$1$2${id}$2]`)
        .replace(dotted, (whole, head: string) =>
          spelled ? `${head}${id}` : `${head.slice(0, -1)}["${id}"]` || whole,
        ),
    );
}
