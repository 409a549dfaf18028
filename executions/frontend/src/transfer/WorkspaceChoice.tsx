import { useEffect, useId, useState } from "react";
import { ask } from "../api/client";
import { t } from "../words/t";

interface Workspace {
  id: string;
  name: string;
  role: string | null;
}

interface Props {
  value: string | undefined;
  onChange: (id: string) => void;
}

/** The choice of the new workflow's workspace; hidden if the user has only one. */
export function WorkspaceChoice({ value, onChange }: Props) {
  const [found, setFound] = useState<Workspace[]>([]);
  const field = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once, when it is shown
  useEffect(() => {
    ask<Workspace[]>("v1/Workspace?archived=false&limit=500")
      .then(({ data }) => {
        const mine = data.filter((one) => one.role !== "USER");
        setFound(mine);
        const [first] = mine;
        if (first) onChange(first.id);
      })
      // Without the list, the server uses the only workspace, or asks for one in its error.
      .catch(() => setFound([]));
  }, []);
  if (found.length < 2) return null;
  return (
    <p className="asked">
      <label htmlFor={field}>{t("transfer.workspace")}</label>
      <select id={field} value={value ?? ""} onChange={(event) => onChange(event.target.value)}>
        {found.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
    </p>
  );
}
