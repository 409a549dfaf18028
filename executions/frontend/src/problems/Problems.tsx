import { useDeferredValue, useMemo } from "react";
import { Icon } from "../shared/Icon";
import { type FoundProblem, useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { Checker } from "./Checker";
import { goToProblem } from "./going";
import { grouped } from "./grouping";
import { counted } from "./merge";
import { ProblemMark, ProblemRows } from "./ProblemRows";
import "./problems.css";
import { toggleProblems, useChecking } from "./state";

const SHOWN = 200;

/** The list of problems at the bottom of the page; a click leads to the place of a problem. */
export function Problems() {
  const problems = useStudio((state) => state.problems);
  const open = useChecking((state) => state.open);
  return (
    <section aria-label={t("problems.title")} className="problems">
      <Checker />
      <button
        type="button"
        className="problems-head"
        aria-expanded={open}
        aria-controls="problems-list"
        onClick={toggleProblems}
      >
        <Icon name={open ? "expand_more" : "expand_less"} />
        <ProblemMark problems={problems} />
        {counted(problems)}
      </button>
      <div id="problems-list" className="problems-list" hidden={!open}>
        {open && <List problems={problems} />}
      </div>
    </section>
  );
}

function List({ problems }: { problems: readonly FoundProblem[] }) {
  const note = useChecking((state) => state.note);
  const document = useDeferredValue(useDocument());
  const groups = useMemo(() => grouped(problems.slice(0, SHOWN), document), [problems, document]);
  const hidden = problems.length - SHOWN;
  return (
    <>
      {note !== "" && <p className="problems-note">{note}</p>}
      {groups.length === 0 && (
        <p className="problems-note">{t("problems.noProblemsThisWorkflowCan")}</p>
      )}
      <ul>
        {groups.map((group) => (
          <li key={group.task ?? ""}>
            <p className="problem-task">
              {group.title}
              {group.task !== null && group.title !== group.task && <code>{group.task}</code>}
            </p>
            <ProblemRows problems={group.problems} onChoose={goToProblem} named={false} />
          </li>
        ))}
      </ul>
      {hidden > 0 && (
        <p className="problems-note">{t("problems.moreAreNotShown", { count: hidden })}</p>
      )}
    </>
  );
}
