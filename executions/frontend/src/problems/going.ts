import { type FoundProblem, useStudio } from "../store/studio";

/** Show the place of a problem: its edge, or the field of its task. */
export function goToProblem(problem: FoundProblem): void {
  const { goTo, select } = useStudio.getState();
  if (problem.edge) select({ edges: [problem.edge] });
  else goTo(problem.task, problem.pointer);
}
