/** Copies the payload of an earlier execution to the run dialog. */
import { t } from "../words/t";
import { payloadOf } from "./executions";
import { isWhole } from "./parts";
import { written } from "./payload";
import { setPayload, useWish } from "./wish";

/**
 * Load the payload into the dialog, unless the user typed or chose another meanwhile. Returns the
 * reason if this failed, else "".
 */
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
