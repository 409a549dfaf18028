import { useEffect, useState } from "react";
import { ask, wordsOf } from "../api/client";
import type { GraphShape, ModuleType } from "../api/shapes";
import { listModuleTypes } from "../api/workflows";
import { overview } from "../document/layout";
import { KeyRows, LettersSwitch } from "../keys/KeyRows";
import { useLiveStore } from "../live/live";
import { Dialog } from "../shared/Dialog";
import { begin } from "../store/history";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { Details } from "./details/Details";
import { Graph } from "./Graph";
import { documentOf, modulesIn } from "./graphDocument";
import { KEYS, listenToKeys } from "./keys";
import { isNarrow } from "./narrow";
import { ErrorNote, Link, Note } from "./pieces";
import { followAddress } from "./selecting";
import { useMonitor, usePages } from "./store";
import { Top } from "./Top";
import { Timeline } from "./timeline/Timeline";
import { watchExecution } from "./watching";

/** The live monitor of one execution: its graph, its timeline, and the details of each run. */
export function Monitor() {
  const { execution, workflow } = usePages();
  const [loading, setLoading] = useState<"loading" | "ready" | Error>("loading");
  useEffect(() => {
    let over = false;
    load(execution, workflow)
      .then(() => !over && setLoading("ready"))
      .catch((error: unknown) => !over && setLoading(new Error(wordsOf(error))));
    return () => {
      over = true;
    };
  }, [execution, workflow]);
  if (loading === "loading") return <Note>{t("monitor.loadingTheGraph")}</Note>;
  if (loading === "ready") return <Parts />;
  return (
    <div>
      <ErrorNote>{loading.message}</ErrorNote>
      <Link href={location.href}>{t("shared.tryAgain")}</Link>
    </div>
  );
}

/** Load the graph of the execution's version as a read-only document. */
async function load(execution: string, workflow: string): Promise<void> {
  const { data: graph } = await ask<GraphShape>(`v1/WorkflowExecution/${execution}/graph`);
  // The module types only provide the icons, so ignore errors.
  const types = await listModuleTypes(modulesIn(graph)).catch((): ModuleType[] => []);
  const byName = new Map(types.map((type) => [type.type, type]));
  const document = overview(documentOf(graph, workflow), byName, isNarrow());
  useStudio.setState({ types: byName, history: begin(document), stored: document });
}

function Parts() {
  const { execution } = usePages();
  const help = useMonitor((state) => state.help);
  useEffect(() => watchExecution(execution), [execution]);
  useEffect(followAddress, []);
  useEffect(listenToKeys, []);
  useTold();
  return (
    <>
      <Top />
      <div className="vm-columns">
        <div className="vm-main">
          <Graph />
          <Timeline />
        </div>
        <Details />
      </div>
      {help && <Help />}
    </>
  );
}

/** Store the connection's state in attributes of the root element, for style sheets and tests. */
function useTold(): void {
  const ready = useLiveStore((state) => state.execution !== null);
  const connection = useLiveStore((state) => state.connection);
  useEffect(() => {
    const root = document.getElementById("monitor");
    if (!root) return;
    root.dataset.connection = connection.replace(" ", "-");
    if (ready) root.dataset.ready = "yes";
  }, [ready, connection]);
}

const Help = () => (
  <Dialog title={t("monitor.keys")} onClose={() => useMonitor.setState({ help: false })}>
    <LettersSwitch example="n" />
    <div className="keys">
      <KeyRows rows={KEYS} />
    </div>
  </Dialog>
);
