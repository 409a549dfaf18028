import { Canvas } from "../canvas/Canvas";
import { Inspector } from "../inspector/Inspector";
import { useShortcuts } from "../keys/shortcuts";
import { NodeList } from "../nodelist/NodeList";
import { Problems } from "../problems/Problems";
import { useOpening } from "../running/opening";
import { RunBar } from "../running/RunBar";
import { Banners } from "../saving/Banners";
import { Keeper } from "../saving/Keeper";
import { Button } from "../shared/Button";
import { useStudio } from "../store/studio";
import { CanaryBanner } from "../versions/CanaryBanner";
import { MigrateBanner } from "../versions/MigrateBanner";
import { PublishedBanner } from "../versions/PublishedBanner";
import { t } from "../words/t";
import { YamlView } from "../yaml/YamlView";
import { Dialogs } from "./Dialogs";
import { SMALL, useNarrower } from "./drawers";
import { LeftSide } from "./LeftSide";
import { useLoading } from "./loading";
import { ReadOnly } from "./ReadOnly";
import { SidePanel, Veil } from "./SidePanel";
import { TopBar } from "./TopBar";
import "./shell.css";

/** The editor of one workflow: palette, canvas (or list, or YAML), inspector and problems. */
export function Studio({ id }: { id: string }) {
  const { loading, again } = useLoading(id);
  if (loading.state === "ready") return <Regions />;
  return (
    <main className="centre">
      {loading.state === "loading" ? (
        <p role="status">{t("shell.loadingTheWorkflow")}</p>
      ) : (
        <>
          <h1>{t("shell.theWorkflowCouldNotBeLoaded")}</h1>
          <p role="alert">{loading.message}</p>
          <Button label={t("shared.tryAgain")} icon="refresh" onClick={again} />
          <a className="button" href={useStudio.getState().page.home}>
            {t("shell.allWorkflows")}
          </a>
        </>
      )}
    </main>
  );
}

function Regions() {
  useShortcuts();
  useOpening();
  const view = useStudio((state) => state.view);
  const small = useNarrower(SMALL);
  const shown = small && view === "canvas" ? "list" : view;
  return (
    <div className="studio">
      <TopBar />
      <Keeper />
      <div className="banners">
        <ReadOnly />
        <Banners />
        <PublishedBanner />
        <CanaryBanner />
        <MigrateBanner />
      </div>
      <SidePanel side="palette">
        <LeftSide />
      </SidePanel>
      <main className="middle">
        {shown === "canvas" && <Canvas />}
        {shown === "list" && <NodeList />}
        {shown === "yaml" && <YamlView />}
        <RunBar />
        <Problems />
      </main>
      <SidePanel side="inspector">
        <Inspector />
      </SidePanel>
      <Veil />
      <Dialogs />
    </div>
  );
}
