import { modulesOf } from "../../document/modules";
import { idOf } from "../../document/paths";
import type { TaskPath } from "../../document/types";
import { writePath } from "../../expressions/path";
import { markOf } from "../../live/states";
import { executionPageOf } from "../../running/links";
import { type TaskResult, useResults, useResultsStore } from "../../running/results";
import { Button } from "../../shared/Button";
import { type Tab, Tabs } from "../../shared/Tabs";
import { useStudio } from "../../store/studio";
import { rich } from "../../words/rich";
import { t } from "../../words/t";
import { useTask } from "../editing";
import { useNames } from "../names";
import { type DataTab, useView } from "../view";
import { Available } from "./Available";
import { JsonTree } from "./JsonTree";
import { PinButton } from "./PinButton";

const TABS: readonly Tab<DataTab>[] = [
  { key: "available", label: t("inspector.available") },
  { key: "input", label: t("inspector.input") },
  { key: "output", label: t("inspector.output") },
  { key: "error", label: t("inspector.error") },
];

/**
 * A task's input and output in the displayed execution, and the names that its templates can use.
 */
export function DataDrawer({ path, module }: { path: TaskPath; module: number }) {
  const { dataOpen, data } = useView();
  const { results, of } = useResults();
  const result = of(path);
  return (
    <section className="data-drawer" aria-label={t("inspector.data")}>
      <Button
        bare
        className="drawer-button"
        icon={dataOpen ? "expand_more" : "expand_less"}
        label={dataOpen ? t("inspector.hideData") : t("inspector.showData")}
        aria-expanded={dataOpen}
        onClick={() => useView.setState({ dataOpen: !dataOpen })}
      />
      <strong>{t("inspector.data")}</strong>
      <span className="subtle">{summaryOf(result, results !== null)}</span>
      {results && (
        <a
          className="to-monitor"
          href={executionPageOf(results.executionId, result?.runId ? { run: result.runId } : {})}
        >
          {t("inspector.executionPage")}
        </a>
      )}
      {dataOpen && (
        <div className="drawer-body">
          <Tabs
            label={t("inspector.kindsOfData")}
            tabs={TABS}
            current={data}
            onChange={(key) => useView.setState({ data: key })}
          >
            {data === "available" ? (
              <AvailableHere path={path} module={module} />
            ) : (
              <Shown path={path} result={result} what={data} />
            )}
          </Tabs>
        </div>
      )}
    </section>
  );
}

function summaryOf(result: TaskResult | undefined, some: boolean): string {
  if (!some) return t("inspector.noneYetRunTheWorkflow");
  return result
    ? t("inspector.lastRun", { state: markOf(result.state).word })
    : t("inspector.notRunTheLastTime");
}

function AvailableHere({ path, module }: { path: TaskPath; module: number }) {
  const names = useNames(path, module);
  return <Available names={names()} />;
}

interface ShownProps {
  path: TaskPath;
  result: TaskResult | undefined;
  what: "input" | "output" | "error";
}

/** The input, output or error of the displayed execution. */
function Shown({ path, result, what }: ShownProps) {
  const sees = useStudio((state) => state.page.canSeePayloads);
  const { trouble, results } = useResultsStore();
  const task = useTask(path);
  if (!sees) {
    return <p className="subtle">{t("inspector.yourRoleDoesNotShow")}</p>;
  }
  if (!result && what !== "output") {
    return <p className="subtle">{trouble || t("inspector.noDataYetRunTheWorkflow")}</p>;
  }
  if (what === "error") {
    return result?.error ? (
      <>
        <pre className="error-text">{result.error}</pre>
        {results && (
          <p>
            {rich("inspector.withItsLogAndAttempts", {
              link: (
                <a href={executionPageOf(results.executionId, { run: result.runId })}>
                  {t("inspector.thisRunOnItsPage")}
                </a>
              ),
            })}
          </p>
        )}
      </>
    ) : (
      <p className="subtle">{t("inspector.noError")}</p>
    );
  }
  if (what === "input") return <JsonTree value={result?.inputs ?? null} path={null} />;
  const many = task && modulesOf(task).length > 1;
  return (
    <>
      <PinButton path={path} result={result} />
      {result ? (
        <JsonTree value={result.outputs} path={writePath(["tasks", idOf(path), "output"])} />
      ) : (
        <p className="subtle">{trouble || t("inspector.noDataYetRunOrPin")}</p>
      )}
      {many && <p className="subtle">{t("inspector.whatTheLastModule")}</p>}
    </>
  );
}
