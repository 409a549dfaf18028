import { useStudio } from "../store/studio";
import { counted } from "./merge";
import { ProblemMark } from "./ProblemRows";
import { toggleProblems, useChecking } from "./state";

/** The number of problems in the top bar; a click opens or closes the list. */
export function ProblemCount() {
  const problems = useStudio((state) => state.problems);
  const open = useChecking((state) => state.open);
  return (
    <button
      type="button"
      className="button bare problem-count"
      aria-expanded={open}
      aria-controls="problems-list"
      onClick={toggleProblems}
    >
      <ProblemMark problems={problems} />
      {counted(problems)}
    </button>
  );
}
