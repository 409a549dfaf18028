import { Panel } from "@xyflow/react";
import { useState } from "react";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { t } from "../words/t";

const LARGE = 500;

/** Warns that the workflow is large, until the user closes the warning. */
export function SizeWarning({ count }: { count: number }) {
  const [closed, setClosed] = useState(false);
  if (closed || count < LARGE) return null;
  return (
    <Panel position="top-left" className="toolbar warning">
      <Icon name="warning" />
      <span>{t("canvas.nodesPartsOfItWould", { count })}</span>
      <Button
        bare
        icon="close"
        label={t("canvas.closeTheWarning")}
        onClick={() => setClosed(true)}
      />
    </Panel>
  );
}
