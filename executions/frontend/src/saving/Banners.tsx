import { useState } from "react";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { discardRestored } from "./restoring";
import "./saving.css";
import { useKeeping } from "./state";
import { save } from "./useSaving";

/** What one should know of the state of one's work: restored, signed out, not saved. */
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
          <Icon name="info" /> This workflow is too large to be kept over a reload. Save it before
          you leave the page.
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
        Unsaved changes from <time dateTime={at}>{timeOf(at)}</time> were restored.
      </span>
      {error !== "" && <span>{error}</span>}
      <Button label="Discard them" onClick={() => void discard()} />
      <Button
        icon="close"
        label="Keep them"
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
        You are signed out. Nothing is lost:{" "}
        <a href={`${signIn}?next=${encodeURIComponent(home)}`} target="_blank" rel="noopener">
          sign in in a new tab
        </a>
        , then save again.
      </span>
      <Button label="Save again" onClick={() => void save()} />
    </div>
  );
}

function Offline() {
  return (
    <div className="banner work-alarm" role="alert">
      <Icon name="cloud_off" />
      <span>
        The server cannot be reached. Your changes are kept in this tab and saved once it is back.
      </span>
      <Button label="Try now" onClick={() => void save()} />
    </div>
  );
}

function NotSaved() {
  const why = useStudio((state) => state.savingError);
  return (
    <div className="banner work-alarm" role="alert">
      <Icon name="error" />
      <span>The draft was not saved. {why}</span>
      <Button label="Try again" onClick={() => void save()} />
    </div>
  );
}

/** `12:03`, with the day where it is another one. */
export function timeOf(at: string): string {
  const time = new Date(at);
  const today = time.toDateString() === new Date().toDateString();
  const clock = time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return today ? clock : `${time.toLocaleDateString()} ${clock}`;
}
