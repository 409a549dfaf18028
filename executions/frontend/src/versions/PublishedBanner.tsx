import { useState } from "react";
import { wordsOf } from "../api/client";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { usePublishRefusal, useRefusal } from "../store/readOnly";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { forgetPublication, type Publication, undoPublication, usePublication } from "./undoing";

/** Shows the version that was just published, with a button that undoes this. */
export function PublishedBanner() {
  const published = usePublication((state) => state.published);
  return published && <Banner key={published.version} published={published} />;
}

function Banner({ published }: { published: Publication }) {
  const { version, before, undoneBy } = published;
  return (
    <div className="banner work-note" role="status">
      <Icon name={undoneBy === null ? "check_circle" : "undo"} />
      <span>{sentenceOf(published)}</span>
      {undoneBy === null && before !== null && (
        <UndoPublishing key={version} published={published} />
      )}
      <Button icon="close" label={t("versions.hideThisNote")} bare onClick={forgetPublication} />
    </div>
  );
}

/** The button that undoes the publication, with its error. */
export function UndoPublishing({ published }: { published: Publication }) {
  const { hasCanaries } = useStudio((state) => state.page);
  const toPublish = usePublishRefusal();
  const toEdit = useRefusal();
  // A rollback is possible even if only Git can publish.
  const refusal = hasCanaries ? toEdit : toPublish;
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const undo = async (): Promise<void> => {
    setBusy(true);
    setFailure("");
    try {
      await undoPublication(published);
      announce(sentenceOf(usePublication.getState().published ?? published));
    } catch (error) {
      setFailure(wordsOf(error));
      setBusy(false);
    }
  };
  return (
    <>
      {failure !== "" && (
        <span className="wrong" role="alert">
          {failure}
        </span>
      )}
      <Button
        icon="undo"
        label={t("versions.undoPublishing")}
        title={t("versions.runVersionAgain", { number: published.before ?? 0 })}
        refusal={busy ? t("versions.publishingIsBeingUndone") : refusal}
        onClick={() => void undo()}
      />
    </>
  );
}

function sentenceOf({ version, before, undoneBy }: Publication): string {
  if (undoneBy === null) return t("versions.publishedVersion", { number: version });
  return undoneBy === before
    ? t("versions.versionRolledBack", { number: version, before })
    : t("versions.versionRunsAgain", { before: before ?? 0, number: undoneBy });
}
