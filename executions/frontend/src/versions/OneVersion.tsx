import { useEffect, useState } from "react";
import { wordsOf } from "../api/client";
import type { VersionSummary } from "../api/shapes";
import { getVersion } from "../api/workflows";
import { Comparison } from "../diff/Comparison";
import { arranged } from "../document/layout";
import { read } from "../document/reading";
import type { Definition } from "../document/types";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { useRefusal } from "../store/readOnly";
import { useDocument, useStudio } from "../store/studio";
import { download, fileName } from "../transfer/files";
import { t } from "../words/t";
import { asYaml } from "../yaml/writing";

interface Props {
  id: string;
  number: number;
  rows: readonly VersionSummary[];
}

/** A version, compared with the draft or with another version, and actions for it. */
export function OneVersion({ id, number, rows }: Props) {
  const draft = useDocument();
  const refusal = useRefusal();
  const [other, setOther] = useState<number | null>(null);
  const [mine, failure] = useVersion(id, number);
  const [theirs, theirFailure] = useVersion(id, other);
  const against = other === null ? draft : theirs;
  const failed = failure || theirFailure;
  if (failed !== "") return <p role="alert">{failed}</p>;
  if (mine === null) return <p role="status">{t("versions.readingVersion", { number })}</p>;
  return (
    <section className="one-version" aria-label={t("versions.version", { number })}>
      <div className="version-actions">
        <label>
          {t("versions.compareWith")}{" "}
          <select
            value={other ?? ""}
            onChange={(event) => setOther(event.target.value ? Number(event.target.value) : null)}
          >
            <option value="">{t("versions.theDraft")}</option>
            {rows.map((row) => (
              <option key={row.version} value={row.version} disabled={row.version === number}>
                {t("versions.versionInside", { number: row.version })}
              </option>
            ))}
          </select>
        </label>
        <span className="space" />
        <Button
          label={t("versions.downloadAsYaml")}
          icon="download"
          onClick={() => downloaded(mine, number)}
        />
        <Button
          label={t("versions.restoreAsDraft")}
          icon="restore"
          refusal={refusal}
          onClick={() => restore(mine, number)}
        />
      </div>
      {against !== null && (
        <Comparison
          before={mine}
          after={against}
          beforeName={t("versions.versionInside", { number })}
          afterName={
            other === null ? t("versions.theDraft") : t("versions.versionInside", { number: other })
          }
        />
      )}
    </section>
  );
}

/** Load a version's document as its author wrote it; return it and the error message. */
function useVersion(id: string, number: number | null): [Definition | null, string] {
  const [document, setDocument] = useState<Definition | null>(null);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    let over = false;
    setDocument(null);
    if (number === null) return;
    getVersion(id, number).then(
      ({ source }) => over || setDocument(arranged(read(source, ""))),
      (error: unknown) => over || setFailure(wordsOf(error)),
    );
    return () => {
      over = true;
    };
  }, [id, number]);
  return [document, failure];
}

/** Make the version the draft. This is an edit, so it can be undone and must be saved. */
function restore(document: Definition, number: number): void {
  const { edit, set } = useStudio.getState();
  edit(() => document);
  set({ dialog: null });
  announce(t("versions.versionIsTheDraftNowSave", { number }));
}

function downloaded(document: Definition, number: number): void {
  const name = fileName(t("versions.fileName", { name: document.name, number }), "yaml");
  download(asYaml(document), name, "application/yaml");
}
