import { useMemo } from "react";
import type { ModuleType } from "../../api/shapes";
import { changeTask } from "../../document/edits";
import type { Module, Task, TaskPath } from "../../document/types";
import { announce } from "../../shared/announce";
import { Button } from "../../shared/Button";
import { useRefusal } from "../../store/readOnly";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { useView } from "../view";
import { chainable, withAdded, withMoved, withoutModule } from "./chaining";
import { ModuleOptions } from "./ModuleOptions";

interface Props {
  path: TaskPath;
  task: Task;
  modules: readonly Module[];
  /** Index of the displayed module. */
  at: number;
}

/** The modules of a task in execution order; the panel shows one of them below. */
export function Chain({ path, task, modules, at }: Props) {
  const types = useStudio((state) => state.types);
  const refusal = useRefusal();
  const put = (change: (task: Task) => Task, next: number, sentence: string): void => {
    useStudio.getState().edit((document) => changeTask(document, path, change));
    useView.setState({ module: next });
    announce(sentence);
  };
  const module = modules[at];
  const chained = modules.length > 1;
  return (
    <section className="task-chain" aria-label={t("inspector.modulesOfTheTask")}>
      {chained && (
        <ol>
          {modules.map((one, index) => (
            <li key={one.id}>
              <button
                type="button"
                aria-current={index === at ? "step" : undefined}
                onClick={() => useView.setState({ module: index })}
              >
                <code>{one.id}</code>
                <span>{types.get(one.use)?.title ?? one.use}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
      <div className="chain-tools">
        {!task.body && !refusal && (
          <AddModule
            onAdd={(type) =>
              put(
                (old) => withAdded(old, type),
                modules.length,
                t("inspector.added", { title: type.title }),
              )
            }
          />
        )}
        {chained && module && (
          <fieldset className="group" aria-label={t("inspector.module", { module: module.id })}>
            <Button
              bare
              icon="arrow_upward"
              label={t("inspector.moveUp", { id: module.id })}
              refusal={refusal ?? (at === 0 ? t("inspector.itIsTheFirst") : undefined)}
              onClick={() =>
                put((old) => withMoved(old, at, at - 1), at - 1, t("inspector.movedUp"))
              }
            />
            <Button
              bare
              icon="arrow_downward"
              label={t("inspector.moveDown", { id: module.id })}
              refusal={
                refusal ?? (at === modules.length - 1 ? t("inspector.itIsTheLast") : undefined)
              }
              onClick={() =>
                put((old) => withMoved(old, at, at + 1), at + 1, t("inspector.movedDown"))
              }
            />
            <Button
              bare
              icon="delete"
              label={t("inspector.remove", { name: module.id })}
              refusal={refusal}
              onClick={() =>
                put(
                  (old) => withoutModule(old, at),
                  Math.max(0, at - 1),
                  t("inspector.removed", { id: module.id }),
                )
              }
            />
          </fieldset>
        )}
      </div>
    </section>
  );
}

/** A choice of the modules that a chain can contain: those without a body. */
function AddModule({ onAdd }: { onAdd: (type: ModuleType) => void }) {
  const types = useStudio((state) => state.types);
  const fitting = useMemo(() => chainable(types.values()), [types]);
  return (
    <select
      className="input add-module"
      aria-label={t("inspector.addAModuleToTheChain")}
      value=""
      onChange={(event) => {
        const type = types.get(event.currentTarget.value);
        if (type) onAdd(type);
      }}
    >
      <option value="">{t("inspector.thenAlsoRun")}</option>
      <ModuleOptions types={fitting} />
    </select>
  );
}
