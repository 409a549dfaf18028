import { useMemo, useState } from "react";
import type { Definition } from "../document/types";
import { Button } from "../shared/Button";
import { rich } from "../words/rich";
import { t } from "../words/t";
import { ChangeList } from "./ChangeList";
import { compared } from "./compare";
import "./diff.css";
import { TextDiff } from "./TextDiff";

interface Props {
  before: Definition;
  after: Definition;
  /** Names of the two documents, such as "version 3" or "the draft". */
  beforeName: string;
  afterName: string;
}

/** The differences of two documents, as a list of changes or as text. */
export function Comparison({ before, after, beforeName, afterName }: Props) {
  const [asText, setAsText] = useState(false);
  const changes = useMemo(() => compared(before, after), [before, after]);
  return (
    <div className="comparison">
      <div className="comparison-head">
        <p>
          {rich("diff.fromTo", {
            before: <strong>{beforeName}</strong>,
            after: <strong>{afterName}</strong>,
          })}
        </p>
        <span className="space" />
        <fieldset className="group" aria-label={t("diff.showAs")}>
          <Button
            label={t("diff.changes")}
            aria-pressed={!asText}
            onClick={() => setAsText(false)}
          />
          <Button label={t("diff.text")} aria-pressed={asText} onClick={() => setAsText(true)} />
        </fieldset>
      </div>
      {asText ? <TextDiff before={before} after={after} /> : <ChangeList changes={changes} />}
    </div>
  );
}
