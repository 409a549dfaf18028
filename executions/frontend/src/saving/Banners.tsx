import { useState } from "react";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { dateText, timeText } from "../words/formats";
import { rich } from "../words/rich";
import { t } from "../words/t";
import { discardRestored } from "./restoring";
import "./saving.css";
import { useKeeping } from "./state";
import { save } from "./useSaving";

/** Notices about the user's work: restored, signed out, or not saved. */
export function Banners() {
  const saving = useStudio((state) => state.saving);
  const tooLarge = useKeeping((state) => state.tooLarge);
  return (
    <>
      <Restored />
      {saving === "signed-out" && <SignedOut />}
      {saving === "offline" && <Offline />}
      {saving === "error" && <NotSaved />}
      {tooLarge && (
        <p className="banner work-note" role="status">
          <Icon name="info" /> {t("saving.thisWorkflowIsTooLarge")}
        </p>
      )}
    </>
  );
}

function Restored() {
  const at = useKeeping((state) => state.restoredFrom);
  const [error, setError] = useState("");
  if (at === null) return null;
  const discard = async (): Promise<void> => {
    const why = await discardRestored();
    setError(why);
    if (why !== "") announce(why);
  };
  return (
    <div className="banner work-note" role="status">
      <Icon name="restore" />
      <span>
        {rich("saving.unsavedChangesFromWereRestored", {
          time: <time dateTime={at}>{timeOf(at)}</time>,
        })}
      </span>
      {error !== "" && <span>{error}</span>}
      <Button label={t("saving.discardThem")} onClick={() => void discard()} />
      <Button
        icon="close"
        label={t("saving.keepThem")}
        bare
        onClick={() => useKeeping.setState({ restoredFrom: null })}
      />
    </div>
  );
}

function SignedOut() {
  const { signIn, home } = useStudio.getState().page;
  return (
    <div className="banner work-alarm" role="alert">
      <Icon name="lock" />
      <span>
        {rich("saving.youAreSignedOutNothing", {
          link: (
            <a href={`${signIn}?next=${encodeURIComponent(home)}`} target="_blank" rel="noopener">
              {t("saving.signInInANewTab")}
            </a>
          ),
        })}
      </span>
      <Button label={t("saving.saveAgain")} onClick={() => void save()} />
    </div>
  );
}

function Offline() {
  return (
    <div className="banner work-alarm" role="alert">
      <Icon name="cloud_off" />
      <span>{t("saving.theServerCannotBeReachedYour")}</span>
      <Button label={t("saving.tryNow")} onClick={() => void save()} />
    </div>
  );
}

function NotSaved() {
  const why = useStudio((state) => state.savingError);
  return (
    <div className="banner work-alarm" role="alert">
      <Icon name="error" />
      <span>{t("saving.theDraftWasNotSaved", { reason: why })}</span>
      <Button label={t("shared.tryAgain")} onClick={() => void save()} />
    </div>
  );
}

/** Format a time as `12:03`, with the date if it is not today. */
export function timeOf(at: string): string {
  const time = new Date(at);
  const today = time.toDateString() === new Date().toDateString();
  const clock = timeText(time, { hour: "2-digit", minute: "2-digit" });
  return today ? clock : `${dateText(time)} ${clock}`;
}
