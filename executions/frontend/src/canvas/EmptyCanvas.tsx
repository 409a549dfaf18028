import { wantSearch } from "../palette/wanted";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { rich } from "../words/rich";
import { t } from "../words/t";

/** What a workflow without tasks says instead of nothing. */
export function EmptyCanvas() {
  const canEdit = useStudio((state) => state.page.canEdit);
  return (
    <div className="empty-canvas">
      <Icon name="account_tree" />
      <h2>{t("canvas.thisWorkflowHasNoNodesYet")}</h2>
      {canEdit && (
        <>
          <p>{rich("canvas.pickAModuleOnTheLeft", { key: <kbd>/</kbd> })}</p>
          <Button icon="search" label={t("canvas.searchModules")} onClick={wantSearch} />
        </>
      )}
    </div>
  );
}
