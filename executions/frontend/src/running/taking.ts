/** The payload of an earlier run, taken for the next one. */
import { t } from "../words/t";
import { payloadOf } from "./executions";
import { isWhole } from "./parts";
import { written } from "./payload";
import { setPayload, useWish } from "./wish";

/** Fetch it into the dialog, unless one typed or chose another meanwhile; why not, else "". */
export async function takePayload(execution: string): Promise<string> {
  const wanted = (): boolean => useWish.getState().taking === execution;
  useWish.setState({ taking: execution });
  try {
    const value = await payloadOf(execution);
    if (!wanted()) return "";
    if (isWhole(value)) setPayload(written(value));
    return isWhole(value) ? "" : t("running.thisPayloadIsNotShown");
  } catch (error) {
    return wanted() ? (error instanceof Error ? error.message : String(error)) : "";
  } finally {
    if (wanted()) useWish.setState({ taking: null });
  }
}
