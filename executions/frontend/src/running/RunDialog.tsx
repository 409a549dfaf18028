import { useState } from "react";
import { Refused } from "../api/client";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { Given } from "./Given";
import { PartChoice } from "./PartChoice";
import { PayloadField } from "./PayloadField";
import { EVERYTHING, startOf } from "./parts";
import { type ReadPayload, readPayload } from "./payload";
import { Refusal } from "./Refusal";
import "./running.css";
import { type Order, start } from "./starting";
import { mayTest, NO_TEST, useWish } from "./wish";

type What = Order["what"];

/** Asks what to run, with which payload and given results, and starts it. */
export function RunDialog() {
  const { set, page } = useStudio.getState();
  const wish = useWish();
  const [what, setWhat] = useState<What>(
    page.canEdit || wish.part.kind !== EVERYTHING.kind ? "draft" : "published",
  );
  const [useShown, setUseShown] = useState(true);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Refused | null>(null);
  const payload = readPayload(wish.payload ?? "");
  const part = what === "draft" ? wish.part : EVERYTHING;
  const refusal = refusalOf(payload, wish.taking);
  const run = async (): Promise<void> => {
    if (busy || "mistake" in payload || refusal) return;
    setBusy(true);
    setRefused(null);
    try {
      await start({ what, part, params: payload.value, useShown });
    } catch (error) {
      setRefused(error instanceof Refused ? error : new Refused(0, String(error)));
      setBusy(false);
    }
  };
  const close = (): void => set({ dialog: null });
  const actions = (
    <>
      <Button label={t("shared.cancel")} onClick={close} />
      <Button
        label={
          busy
            ? t("running.startingNow")
            : what === "draft"
              ? t("running.runTest")
              : t("running.run")
        }
        icon="play_arrow"
        strong
        // For a part of the workflow, focus the button, so that Enter starts the run.
        data-first={wish.part.kind === EVERYTHING.kind ? undefined : ""}
        refusal={refusal}
        onClick={() => void run()}
      />
    </>
  );
  return (
    <Dialog title={t("running.run")} onClose={close} actions={actions} wide>
      <form
        className="run"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {refused && <Refusal refused={refused} />}
        <What chosen={what} onChoose={setWhat} />
        {what === "draft" && <PartChoice />}
        <PayloadField mistake={"mistake" in payload ? payload.mistake : ""} />
        {what === "draft" && (
          <Given from={startOf(part)} useShown={useShown} onUseShown={setUseShown} />
        )}
      </form>
    </Dialog>
  );
}

/** Return the reason why the run cannot be started now, or undefined. */
function refusalOf(payload: ReadPayload, taking: string | null): string | undefined {
  if (taking !== null) return t("running.thePayloadOfTheEarlierRun");
  return "mistake" in payload ? payload.mistake : undefined;
}

/** The choice between the draft, as a test, and the newest version. */
function What({ chosen, onChoose }: { chosen: What; onChoose: (what: What) => void }) {
  const page = useStudio((state) => state.page);
  const version = useStudio((state) => state.workflow?.latestVersion ?? null);
  const choices: [What, string, string, boolean][] = [
    [
      "draft",
      t("running.theDraftAsATest"),
      mayTest(page) ? t("running.asItIsOnScreenSaved") : NO_TEST,
      mayTest(page),
    ],
    [
      "published",
      version === null
        ? t("running.thePublishedVersion")
        : t("running.versionChoice", { number: version }),
      version === null ? t("running.nothingIsPublishedYet") : t("running.asTriggersWouldStart"),
      version !== null,
    ],
  ];
  return (
    <fieldset className="run-what">
      <legend>{t("running.whatRuns")}</legend>
      {choices.map(([what, name, about, possible]) => (
        <label key={what} className={possible ? undefined : "impossible"}>
          <input
            type="radio"
            name="what"
            checked={chosen === what}
            disabled={!possible}
            onChange={() => onChoose(what)}
          />
          <span>
            <strong>{name}</strong>
            <small>{about}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
