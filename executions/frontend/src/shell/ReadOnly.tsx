import { useState } from "react";
import { wordsOf } from "../api/client";
import { takeOver } from "../api/workflows";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { type PageFacts, useStudio } from "../store/studio";

/** Says why the workflow cannot be changed here, and where its code is if it has some. */
export function ReadOnly() {
  const page = useStudio((state) => state.page);
  if (page.canEdit) return null;
  if (page.origin !== "") return <FromCode page={page} />;
  return (
    <p className="banner" role="note">
      You may look at this workflow but not change it: your role in its workspace does not allow
      changes.
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
    <section className="banner work-note" aria-label="From code">
      <Icon name="code" />
      <span>
        This workflow comes from code: <code>{page.origin}</code>. Change it there.
      </span>
      {error !== "" && <span role="alert">{error}</span>}
      {page.canTakeOver && (
        <Button
          icon="edit_document"
          label="Take over into the studio"
          refusal={busy ? "The copy is being made." : undefined}
          onClick={() => void take()}
        />
      )}
    </section>
  );
}
