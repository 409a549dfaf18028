import { useState } from "react";
import { Button } from "../shared/Button";
import { Menu } from "../shared/Menu";
import { useThemeItems } from "../shell/themeItems";
import { useStudio } from "../store/studio";
import { ImportDialog } from "../transfer/ImportDialog";
import { t } from "../words/t";
import { NewWorkflow } from "./NewWorkflow";
import { WorkflowTable } from "./WorkflowTable";
import { useWorkflows } from "./workflows";
import "../shell/shell.css";
import "./home.css";

const NO_AUTHOR = t("home.yourRoleInYourWorkspacesDoes");

/** All workflows that the user can see, and the buttons for new ones. */
export function Home() {
  const page = useStudio((state) => state.page);
  const [name, setName] = useState("");
  const [dialog, setDialog] = useState<"new" | "import" | null>(null);
  const themes = useThemeItems();
  const listed = useWorkflows(name);
  const refusal = page.canEdit ? undefined : NO_AUTHOR;
  const ways = (
    <>
      <Button
        icon="upload"
        label={t("home.import")}
        refusal={refusal}
        onClick={() => setDialog("import")}
      />
      <Button
        icon="add"
        label={t("home.newWorkflow")}
        strong
        refusal={refusal}
        onClick={() => setDialog("new")}
      />
    </>
  );
  const nothing = listed.none === true;
  // Show the buttons only when their position is known: a click must not miss a moving button.
  const known = listed.none !== null || listed.trouble !== "";
  return (
    <div className="home-page">
      <header className="top">
        <h1>{t("home.studio")}</h1>
        <span className="space" />
        <a href={page.admin}>{t("home.admin")}</a>
        <Menu label={t("home.appearance")} icon="contrast" items={themes} />
      </header>
      <main className="home">
        <div className="home-head">
          <h2>{t("home.workflows")}</h2>
          {!nothing && (
            <input
              type="search"
              aria-label={t("home.searchByName")}
              placeholder={t("home.namesBeginning")}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
          <span className="space" />
          {known && !nothing && ways}
        </div>
        {nothing ? (
          <div className="home-empty">
            <p>{t("home.noWorkflowsYetDrawOne")}</p>
            <div className="home-ways">{ways}</div>
          </div>
        ) : (
          <WorkflowTable listed={listed} home={page.home} />
        )}
      </main>
      {dialog === "new" && <NewWorkflow home={page.home} onClose={() => setDialog(null)} />}
      {dialog === "import" && (
        <ImportDialog
          home={page.home}
          onClose={() => {
            setDialog(null);
            listed.again();
          }}
        />
      )}
    </div>
  );
}
