import { useEffect, useRef } from "react";
import { wordsOf } from "../api/client";
import { validate } from "../api/workflows";
import { announce } from "../shared/announce";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { check } from "./check";
import { counted, merged } from "./merge";
import { located } from "./places";
import { lookedAt } from "./slices";
import { useChecking } from "./state";

/** Pauses in typing before the browser checks, and before the server is asked, in milliseconds. */
const OWN_PAUSE = 150;
const SERVER_PAUSE = 600;
/** Time for which a count must not change before it is announced, in milliseconds. */
const SPOKEN_PAUSE = 1500;

/** Keeps the store's problems up to date; renders nothing. */
export function Checker() {
  useOwnChecks();
  useServerChecks();
  useSpokenCount();
  return null;
}

function useOwnChecks(): void {
  const document = useDocument();
  const types = useStudio((state) => state.types);
  const verdict = useChecking((state) => state.verdict);
  useEffect(() => {
    const looking = new AbortController();
    const look = async (): Promise<void> => {
      await lookedAt(document, types, looking.signal);
      if (looking.signal.aborted) return;
      useStudio.setState({ problems: merged(document, check(document, types), verdict) });
    };
    const timer = setTimeout(() => void look(), OWN_PAUSE);
    return () => {
      clearTimeout(timer);
      looking.abort();
    };
  }, [document, types, verdict]);
}

function useServerChecks(): void {
  const document = useDocument();
  const id = useStudio((state) => state.workflow?.id);
  const allowed = useStudio((state) => state.page.canEdit);
  useEffect(() => {
    if (id === undefined || !allowed) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      validate(id, document, asking.signal)
        .then(({ problems, warnings }) => {
          const found = [
            ...located(problems, "error", document),
            ...located(warnings, "warning", document),
          ];
          useChecking.setState({ verdict: { document, problems: found }, note: "" });
        })
        .catch((error: unknown) => {
          if (asking.signal.aborted) return;
          const why = wordsOf(error);
          const note = t("problems.onlyThisPagesOwnChecks", { reason: why });
          useChecking.setState({ note });
        });
    }, SERVER_PAUSE);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [document, id, allowed]);
}

/** Announce a changed count after a pause; do not announce that there are no problems at first. */
function useSpokenCount(): void {
  const count = useStudio((state) => counted(state.problems));
  const said = useRef(t("problems.noProblems"));
  useEffect(() => {
    const timer = setTimeout(() => {
      if (said.current !== count) announce(count);
      said.current = count;
    }, SPOKEN_PAUSE);
    return () => clearTimeout(timer);
  }, [count]);
}
