import { useState } from "react";
import { wordsOf } from "../api/client";
import type { Canary } from "../api/workflows";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { end, useCanary } from "./canary";

/** Shows the canary and its share of new executions, with buttons that end it. */
export function CanaryBanner() {
  const canary = useCanary();
  return canary && <Banner key={canary.version} canary={canary} />;
}

function Banner({ canary }: { canary: Canary }) {
  const { canPublish, canOperate } = useStudio((state) => state.page);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const go = async (how: "promote" | "stop"): Promise<void> => {
    setBusy(true);
    setFailure("");
    try {
      await end(canary, how);
      announce(
        t(how === "promote" ? "versions.canaryPromoted" : "versions.canaryStopped", {
          number: canary.version,
        }),
      );
    } catch (error) {
      setFailure(wordsOf(error));
      setBusy(false);
    }
  };
  const waits = busy ? t("versions.theCanaryIsEnding") : undefined;
  return (
    <div className="banner work-note" role="status">
      <Icon name="science" />
      <span>{t("versions.canaryTakes", { number: canary.version, percent: canary.percent })}</span>
      {failure !== "" && (
        <span className="wrong" role="alert">
          {failure}
        </span>
      )}
      {canPublish && (
        <Button
          icon="arrow_upward"
          label={t("versions.promoteCanary")}
          refusal={waits}
          onClick={() => void go("promote")}
        />
      )}
      {canOperate && (
        <Button
          icon="block"
          label={t("versions.stopCanary")}
          refusal={waits}
          onClick={() => void go("stop")}
        />
      )}
    </div>
  );
}
