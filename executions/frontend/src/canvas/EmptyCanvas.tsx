import { wantSearch } from "../palette/wanted";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";

/** What a workflow without tasks says instead of nothing. */
export function EmptyCanvas() {
  const canEdit = useStudio((state) => state.page.canEdit);
  return (
    <div className="empty-canvas">
      <Icon name="account_tree" />
      <h2>This workflow has no nodes yet</h2>
      {canEdit && (
        <>
          <p>
            Pick a module on the left, or press <kbd>/</kbd> to search.
          </p>
          <Button icon="search" label="Search modules" onClick={wantSearch} />
        </>
      )}
    </div>
  );
}
