import { useState } from "react";
import { wordsOf } from "../api/client";
import { takeOver } from "../api/workflows";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { type PageFacts, useStudio } from "../store/studio";
import { rich } from "../words/rich";
import { t } from "../words/t";

/** Says where the workflow comes from, and why it cannot be changed or published here. */
export function ReadOnly() {
  const page = useStudio((state) => state.page);
  return (
    <>
      {(page.fromGit || page.publishedFromGit) && <FromGit page={page} />}
      {!page.canEdit && <NotEditable page={page} />}
    </>
  );
}

function FromGit({ page }: { page: PageFacts }) {
  const { gitCommit: commit, gitRepository: repository } = page;
  return (
    <section className="banner work-note" aria-label={t("shell.fromGit")}>
      <Icon name="commit" />
      <span>
        {page.fromGit &&
          (commit === ""
            ? t("shell.managedFromGit")
            : rich("shell.managedFromGitCommit", { commit: <code>{commit}</code> }))}
        {page.fromGit && repository !== "" && ` ${repository}`}{" "}
        {page.publishedFromGit ? t("store.onlyGitPublishes") : t("shell.theNextApplyReplaces")}
      </span>
    </section>
  );
}

function NotEditable({ page }: { page: PageFacts }) {
  if (page.origin !== "") return <FromCode page={page} />;
  return (
    <p className="banner" role="note">
      {t("shell.youMayLookAtThisWorkflow")}
    </p>
  );
}

function FromCode({ page }: { page: PageFacts }) {
  const id = useStudio((state) => state.workflow?.id ?? "");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const take = async (): Promise<void> => {
    setBusy(true);
    setError("");
    try {
      location.assign(`${page.home}${(await takeOver(id)).id}/`);
    } catch (refused) {
      setError(wordsOf(refused));
      setBusy(false);
    }
  };
  return (
    <section className="banner work-note" aria-label={t("shell.fromCode")}>
      <Icon name="code" />
      <span>
        {rich("shell.thisWorkflowComesFromCodeChange", { origin: <code>{page.origin}</code> })}
      </span>
      {error !== "" && <span role="alert">{error}</span>}
      {page.canTakeOver && (
        <Button
          icon="edit_document"
          label={t("shell.takeOverIntoTheStudio")}
          refusal={busy ? t("shell.theCopyIsBeingMade") : undefined}
          onClick={() => void take()}
        />
      )}
    </section>
  );
}
