import { Canvas } from "../canvas/Canvas";
import { Inspector } from "../inspector/Inspector";
import { useShortcuts } from "../keys/shortcuts";
import { NodeList } from "../nodelist/NodeList";
import { Palette } from "../palette/Palette";
import { Problems } from "../problems/Problems";
import { Button } from "../shared/Button";
import { useStudio } from "../store/studio";
import { YamlView } from "../yaml/YamlView";
import { Dialogs } from "./Dialogs";
import { useLoading } from "./loading";
import { TopBar } from "./TopBar";

/** The editor of one workflow: palette, canvas (or list, or YAML), inspector, problems. */
export function Studio({ id }: { id: string }) {
  const { loading, again } = useLoading(id);
  if (loading.state === "ready") return <Regions />;
  return (
    <main className="centre">
      {loading.state === "loading" ? (
        <p role="status">Loading the workflow…</p>
      ) : (
        <>
          <h1>The workflow could not be loaded</h1>
          <p role="alert">{loading.message}</p>
          <Button label="Try again" icon="refresh" onClick={again} />
          <a className="button" href={useStudio.getState().page.home}>
            All workflows
          </a>
        </>
      )}
    </main>
  );
}

function Regions() {
  useShortcuts();
  const view = useStudio((state) => state.view);
  return (
    <div className="studio">
      <TopBar />
      <Palette />
      <main className="middle">
        {view === "canvas" && <Canvas />}
        {view === "list" && <NodeList />}
        {view === "yaml" && <YamlView />}
        <Problems />
      </main>
      <Inspector />
      <Dialogs />
    </div>
  );
}
