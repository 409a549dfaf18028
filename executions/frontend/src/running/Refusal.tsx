import type { Refused } from "../api/client";
import { goToProblem } from "../problems/going";
import { located } from "../problems/places";
import { Icon } from "../shared/Icon";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";

const SHOWN = 50;
const IN_THE_DOCUMENT = /^(tasks|edges|settings|labels|triggers|output|variables|input\b)/;

/** The reasons why the start failed; problems in the workflow are links to their places. */
export function Refusal({ refused }: { refused: Refused }) {
  const document = useDocument();
  const set = useStudio((state) => state.set);
  const all = located(refused.errors, "error", document);
  return (
    <div className="run-refusal" role="alert">
      <p>
        <Icon name="error" />
        <strong>{t("running.nothingWasStarted")}</strong> {refused.detail}
      </p>
      {all.length > 0 && (
        <ul>
          {all.slice(0, SHOWN).map((problem) => (
            <li key={`${problem.path} ${problem.code}`}>
              {IN_THE_DOCUMENT.test(problem.path) ? (
                <button
                  type="button"
                  className="link"
                  onClick={() => {
                    set({ dialog: null });
                    goToProblem(problem);
                  }}
                >
                  <code>{problem.task ?? problem.path}</code> {problem.message}
                </button>
              ) : (
                <>
                  <code>{problem.path}</code> {problem.message}
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {all.length > SHOWN && <p>{t("running.moreAreNotShown", { count: all.length - SHOWN })}</p>}
    </div>
  );
}
