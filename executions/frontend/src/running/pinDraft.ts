/** The output that a pin's dialog shows, and how its full value is loaded. */
import { wordsOf } from "../api/client";
import type { Json } from "../document/types";
import { t } from "../words/t";
import type { Pin } from "./pins";
import type { TaskResult } from "./results";
import { wasCut } from "./starting";

export interface Draft {
  output: Json | undefined;
  /** The reason why the complete output is missing; "" if loading it did not fail. */
  trouble: string;
}

/** Return what the dialog shows first: the pin if there is one, even of `null`, or else the result. */
export const draftFor = (pin: Pin | undefined, result: TaskResult | undefined): Draft => ({
  output: pin ? pin.output : (result?.outputs ?? {}),
  trouble: "",
});

const isCut = ({ output }: Draft): boolean => wasCut(output ?? null);

/** Return the change to the draft after loading; an output that the user typed stays. */
export const loaded = (reading: Promise<Json>): Promise<(now: Draft) => Draft> =>
  reading.then(
    (output) => (now) => (isCut(now) ? { output, trouble: "" } : now),
    (error: unknown) => {
      const reason = wordsOf(error);
      return (now) => ({
        ...now,
        trouble: t("inspector.theWholeOutputCouldNotBeLoaded", { reason }),
      });
    },
  );

/** Return the reason why the draft cannot be pinned; undefined if it can. */
export const refusalOf = (draft: Draft): string | undefined =>
  isCut(draft) ? draft.trouble || t("inspector.theWholeOutputIsStillBeing") : undefined;
