import { wantSearch } from "../palette/wanted";
import { mayTest } from "../running/wish";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { rich } from "../words/rich";
import { t } from "../words/t";

/** The hint on the canvas of a workflow without tasks. */
export function EmptyCanvas() {
  const canEdit = useStudio((state) => state.page.canEdit);
  return (
    <div className="empty-canvas">
      <Icon name="account_tree" />
      <h2>{t("canvas.thisWorkflowHasNoNodesYet")}</h2>
      {canEdit && (
        <>
          <p>{rich("canvas.pickAModuleOnTheLeft", { key: <kbd>/</kbd> })}</p>
          <div className="empty-ways">
            <Button icon="search" label={t("canvas.searchModules")} onClick={wantSearch} />
            <Generate />
          </div>
        </>
      )}
    </div>
  );
}

/** Shown if language models are installed and the user may run tests and read payloads. */
function Generate() {
  const page = useStudio((state) => state.page);
  const has = useStudio((state) => state.types.has("llm.chat"));
  if (!has || !mayTest(page) || !page.canSeePayloads) return null;
  return (
    <Button
      icon="auto_awesome"
      label={t("canvas.generateFromADescription")}
      onClick={() => useStudio.getState().set({ dialog: "generate" })}
    />
  );
}
