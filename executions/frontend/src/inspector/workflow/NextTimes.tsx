import { useEffect, useState } from "react";
import { nextTimes } from "../../api/workflows";
import type { Trigger } from "../../document/types";
import { useStudio } from "../../store/studio";
import { zonedText } from "../../words/formats";
import { t } from "../../words/t";

const PAUSE = 400;

/** The next fire times of a schedule in its time zone; errors are shown at its fields. */
export function NextTimes({ trigger }: { trigger: Trigger }) {
  const zone = typeof trigger.timezone === "string" ? trigger.timezone : "UTC";
  const times = useNextTimes(trigger);
  if (times.length === 0) return null;
  return (
    <div className="next-times">
      <strong>{t("inspector.nextTimes")}</strong>
      <ol>
        {times.map((time) => (
          <li key={time}>
            <time dateTime={time}>{zonedText(new Date(time), zone)}</time>
          </li>
        ))}
      </ol>
    </div>
  );
}

function useNextTimes(trigger: Trigger): readonly string[] {
  const workflow = useStudio((state) => state.workflow?.id);
  const [times, setTimes] = useState<readonly string[]>([]);
  const asked = JSON.stringify(trigger);
  useEffect(() => {
    if (workflow === undefined) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      nextTimes(workflow, JSON.parse(asked), asking.signal).then(
        (told) => setTimes(told.times),
        // The times are optional, so ignore errors.
        () => asking.signal.aborted || setTimes([]),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [workflow, asked]);
  return times;
}
