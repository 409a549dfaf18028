import type { VersionSummary } from "../api/shapes";
import { Button } from "../shared/Button";
import { useStudio } from "../store/studio";
import { momentText } from "../words/formats";
import { t } from "../words/t";

interface Props {
  rows: readonly VersionSummary[];
  chosen: number | null;
  onChoose: (number: number) => void;
  onMore: (() => void) | undefined;
}

/** The versions, newest first, with the chosen one marked. */
export function VersionList({ rows, chosen, onChoose, onMore }: Props) {
  const latest = useStudio((state) => state.workflow?.latestVersion);
  return (
    <nav className="version-list" aria-label={t("versions.versions")}>
      <ul>
        {rows.map((row) => (
          <li key={row.id}>
            <button
              type="button"
              aria-current={row.version === chosen}
              onClick={() => onChoose(row.version)}
            >
              <span className="version-name">
                <strong>{t("versions.version", { number: row.version })}</strong>
                {row.version === latest && (
                  <span className="version-tag">{t("versions.latest")}</span>
                )}
                {row.kind === "test" && <span className="version-tag">{t("versions.test")}</span>}
              </span>
              <span className="version-when">
                {row.publishedBy ? `${row.publishedBy}, ` : ""}
                <time dateTime={row.createdAt}>{momentText(new Date(row.createdAt))}</time>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {onMore && <Button label={t("versions.olderVersions")} onClick={onMore} />}
    </nav>
  );
}
