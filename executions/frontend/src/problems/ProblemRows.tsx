import { Icon } from "../shared/Icon";
import type { FoundProblem } from "../store/studio";
import { t } from "../words/t";
import { keyOf, keyPath } from "./found";

interface Rows {
  problems: readonly FoundProblem[];
  onChoose: (problem: FoundProblem) => void;
  /** Whether each row names its task. */
  named?: boolean;
}

/** Problems as buttons that lead to the place of each problem. */
export function ProblemRows({ problems, onChoose, named = true }: Rows) {
  return (
    <ul className="problem-rows">
      {problems.map((one) => (
        <li key={`${keyOf(one)}${one.message}`}>
          <Row problem={one} named={named} onChoose={onChoose} />
        </li>
      ))}
    </ul>
  );
}

function Row({
  problem,
  named,
  onChoose,
}: Pick<Rows, "named" | "onChoose"> & { problem: FoundProblem }) {
  const place = placeOf(problem);
  return (
    <button type="button" className="problem" onClick={() => onChoose(problem)}>
      <ProblemMark problems={[problem]} />
      <span className="unseen">
        {problem.level === "error" ? `${t("problems.problem")} ` : `${t("problems.warning")} `}
      </span>
      {named && problem.task !== null && <strong>{problem.task}</strong>}
      {place !== "" && <code>{place}</code>}
      <span>{problem.message}</span>
    </button>
  );
}

const placeOf = (problem: FoundProblem): string =>
  problem.edge
    ? t("problems.edgeTo", { task: problem.edge.edge.to })
    : keyPath(problem.pointer) || (problem.task === null ? problem.path : "");

/** The icon of the most severe problem. */
export function ProblemMark({ problems }: { problems: readonly FoundProblem[] }) {
  const worst = problems.some((one) => one.level === "error")
    ? "error"
    : problems.length > 0
      ? "warning"
      : "check_circle";
  return (
    <span className={`problem-mark ${worst}`}>
      <Icon name={worst} />
    </span>
  );
}
