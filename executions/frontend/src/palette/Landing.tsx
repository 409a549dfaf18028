import { landingOf } from "../document/adding";
import { taskAt } from "../document/paths";
import { Icon } from "../shared/Icon";
import { useDocument, useStudio } from "../store/studio";

/** Says where what is picked will stand. */
export function LandingHint() {
  const document = useDocument();
  const selected = useStudio((state) => state.selection.tasks);
  const { body, after } = landingOf(document, selected);
  const name = (path: string): string => taskAt(document, path)?.name || path;
  const inside = body.length > 0 ? body.join(".") : null;
  return (
    <p className="palette-landing">
      <Icon name={after ? "subdirectory_arrow_right" : "add"} />
      <span>
        {inside && (
          <>
            Into <strong>{name(inside)}</strong>
            {after && ", "}
          </>
        )}
        {after && (
          <>
            {inside ? "after " : "After "}
            <strong>{name(after)}</strong>
          </>
        )}
        {!inside && !after && "By itself: select a task to add after it"}
      </span>
    </p>
  );
}
