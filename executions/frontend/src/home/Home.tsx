import { useEffect, useState } from "react";
import type { WorkflowSummary } from "../api/shapes";
import { listWorkflows } from "../api/workflows";
import { useStudio } from "../store/studio";

/** All workflows one may see, and the ways to a new one. */
export function Home() {
  const home = useStudio((state) => state.page.home);
  const [rows, setRows] = useState<WorkflowSummary[] | null>(null);
  useEffect(() => {
    void listWorkflows("?limit=50").then(({ data }) => setRows(data));
  }, []);
  return (
    <main className="home">
      <h1>Workflows</h1>
      <ul>
        {rows?.map((row) => (
          <li key={row.id}>
            <a href={`${home}${row.id}/`}>{row.name}</a>
          </li>
        ))}
      </ul>
    </main>
  );
}
