import { useState } from "react";
import { wordsOf } from "../api/client";
import { takeOver } from "../api/workflows";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { type PageFacts, useStudio } from "../store/studio";
import { rich } from "../words/rich";
import { t } from "../words/t";

/** Says why the workflow cannot be changed here, and where its code is if it has some. */
export function ReadOnly() {
  const page = useStudio((state) => state.page);
  if (page.canEdit) return null;
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
