import { useEffect, useState } from "react";
import { type LiveVersion, liveVersions } from "../api/workflows";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { t } from "../words/t";

/** Shows how many live executions run older versions, with a link to migrate them. */
export function MigrateBanner() {
  const { migratePage } = useStudio((state) => state.page);
  const id = useStudio((state) => state.workflow?.id);
  const latest = useStudio((state) => state.workflow?.latestVersion ?? 0);
  const [found, setFound] = useState<readonly LiveVersion[]>([]);
  useEffect(() => {
    if (migratePage === "" || id === undefined || latest < 2) return;
    let over = false;
    // Ignore errors: the workflow's page offers the same action.
    liveVersions(id).then(
      (rows) => !over && setFound(rows),
      () => undefined,
    );
    return () => {
      over = true;
    };
  }, [migratePage, id, latest]);
  const older = found.filter((row) => row.version < latest);
  const count = older.reduce((sum, row) => sum + row.executions, 0);
  if (count === 0) return null;
  const versions = older.map((row) => `v${row.version}: ${row.executions}`).join(", ");
  return (
    <div className="banner work-note" role="status">
      <Icon name="move_up" />
      <span>{t("versions.liveOnOlder", { count, versions })}</span>
      <a className="button" href={migratePage}>
        {t("versions.migrateExecutions")}
      </a>
    </div>
  );
}
