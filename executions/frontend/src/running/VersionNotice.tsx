import { useEffect, useState } from "react";
import { getVersion } from "../api/workflows";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { useResults } from "./results";
import { sameWork } from "./same";

/** The notice that the displayed execution ran a version that differs from the draft. */
export function VersionNotice() {
  const document = useDocument();
  const workflow = useStudio((state) => state.workflow?.id);
  const set = useStudio((state) => state.set);
  const { results } = useResults();
  const number = results && !results.test ? results.version : null;
  const [ran, setRan] = useState<{ number: number; source: unknown } | null>(null);
  const [closed, setClosed] = useState<number | null>(null);
  useEffect(() => {
    if (workflow === undefined || number === null) return;
    let over = false;
    getVersion(workflow, number)
      .then(({ source }) => over || setRan({ number, source }))
      .catch(() => over || setRan(null));
    return () => {
      over = true;
    };
  }, [workflow, number]);
  if (number === null || ran?.number !== number || closed === number) return null;
  if (sameWork(ran.source, document)) return null;
  return (
    <div className="run-notice" role="note">
      <Icon name="history" />
      <p>{t("running.thisRunWasOfVersion", { number })}</p>
      <Button
        icon="history"
        label={t("running.versions")}
        onClick={() => set({ dialog: "versions" })}
      />
      <Button
        icon="close"
        label={t("running.hideThisNote")}
        bare
        onClick={() => setClosed(number)}
      />
    </div>
  );
}
