/** Messages that contain elements: a key, a link, or a name in bold. */
import { Fragment, type ReactNode } from "react";
import { told } from "./t";
import type { Given, Key } from "./types";

/** Return a message with elements in place of its variables. */
export const rich = <K extends Key>(key: K, ...[values]: Given<K, ReactNode>): ReactNode =>
  told(key, values).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message do not move
    <Fragment key={at}>{part as ReactNode}</Fragment>
  ));
