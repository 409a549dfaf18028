/** Writes a document as readable YAML: `ui` and edges on one line each, with its comments. */
import { Document, isMap, isPair, isScalar, visit } from "yaml";
import type { Body, Definition, Task } from "../document/types";
import { apart, putComments } from "./comments";
import { inOrder } from "./keyorder";

/** Return the document's YAML; `read` of what `parsed` returns for it gives the document again. */
export function asYaml(document: Definition): string {
  const [plain, comments] = apart(document);
  const made = new Document(inOrder(plain), { aliasDuplicateObjects: false });
  visit(made, {
    Pair(_, pair) {
      if (isScalar(pair.key) && pair.key.value === "ui" && isMap(pair.value))
        pair.value.flow = true;
    },
    Map(_, map, path) {
      const holder = path.at(-2);
      if (isPair(holder) && isScalar(holder.key) && holder.key.value === "edges") map.flow = true;
    },
  });
  putComments(made, comments);
  return made.toString({ lineWidth: 100, flowCollectionPadding: false });
}

/** Return the YAML without positions on the canvas, for comparisons. */
export const asPlainYaml = (document: Definition): string =>
  asYaml(withoutUi(document) as Definition);

function withoutUi<T extends Body>(body: T): T {
  const { ui: _, ...rest } = body;
  return {
    ...(rest as T),
    tasks: body.tasks.map(taskWithoutUi),
    edges: (body.edges ?? []).map(({ ui: _ui, ...edge }) => edge),
  };
}

function taskWithoutUi({ ui: _, ...task }: Task): Task {
  const modules = task.modules?.map(({ ui: _ui, ...module }) => module);
  return {
    ...task,
    ...(modules ? { modules } : {}),
    ...(task.body ? { body: withoutUi(task.body) } : {}),
  };
}
