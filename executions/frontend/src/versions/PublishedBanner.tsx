import { useState } from "react";
import { wordsOf } from "../api/client";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { usePublishRefusal } from "../store/readOnly";
import { t } from "../words/t";
import { forgetPublication, type Publication, undoPublication, usePublication } from "./undoing";

/** Says what was just published, and takes it back. */
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

/** The button, and why it could not be done. */
export function UndoPublishing({ published }: { published: Publication }) {
  const refusal = usePublishRefusal();
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
        refusal={busy ? t("versions.theVersionIsBeingMade") : refusal}
        onClick={() => void undo()}
      />
    </>
  );
}

const sentenceOf = ({ version, before, undoneBy }: Publication): string =>
  undoneBy === null
    ? t("versions.publishedVersion", { number: version })
    : t("versions.versionRunsAgain", { before: before ?? 0, number: undoneBy });
