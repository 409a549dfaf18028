import { useEffect, useState } from "react";
import { wordsOf } from "../api/client";
import type { VersionSummary } from "../api/shapes";
import { listVersions, nextPage } from "../api/workflows";
import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { OneVersion } from "./OneVersion";
import { VersionList } from "./VersionList";
import "./versions.css";

/** All versions of the workflow, with their changes and actions. */
export function VersionsDialog() {
  const id = useStudio((state) => state.workflow?.id);
  const [rows, setRows] = useState<VersionSummary[] | null>(null);
  const [more, setMore] = useState<string | null>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const [failure, setFailure] = useState("");
  const fetchRows = (next?: string): void => {
    if (id === undefined) return;
    listVersions(id, next).then(
      ({ data, headers }) => {
        setRows((old) => [...(old ?? []), ...data]);
        setMore(nextPage(headers));
        setChosen((old) => old ?? data[0]?.version ?? null);
      },
      (error: unknown) => setFailure(wordsOf(error)),
    );
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first page, once
  useEffect(() => {
    setRows(null);
    fetchRows();
  }, [id]);
  return (
    <Dialog
      title={t("versions.versions")}
      wide
      onClose={() => useStudio.getState().set({ dialog: null })}
    >
      {failure !== "" && (
        <p className="dialog-failure" role="alert">
          {failure}
        </p>
      )}
      {rows === null && failure === "" && <p role="status">{t("versions.readingTheVersions")}</p>}
      {rows?.length === 0 && <p>{t("versions.nothingWasPublishedYetThere")}</p>}
      {rows !== null && rows.length > 0 && (
        <div className="versions">
          <VersionList
            rows={rows}
            chosen={chosen}
            onChoose={setChosen}
            onMore={more === null ? undefined : () => fetchRows(more)}
          />
          {id !== undefined && chosen !== null && (
            <OneVersion key={chosen} id={id} number={chosen} rows={rows} />
          )}
        </div>
      )}
    </Dialog>
  );
}
