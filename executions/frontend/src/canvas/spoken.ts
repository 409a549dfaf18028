/** React Flow's texts for screen readers, in the language of the page. */
import type { ReactFlowProps } from "@xyflow/react";
import { t } from "../words/t";
import type { Key } from "../words/types";

/** React Flow derives the direction from the name of the arrow key. */
const DIRECTIONS = {
  up: "canvas.flowUp",
  down: "canvas.flowDown",
  left: "canvas.flowLeft",
  right: "canvas.flowRight",
} as const satisfies Record<string, Key>;

export const SPOKEN = {
  "node.a11yDescription.default": t("canvas.flowNode"),
  "node.a11yDescription.keyboardDisabled": t("canvas.flowNodeKeys"),
  "node.a11yDescription.ariaLiveMessage": ({ direction, x, y }) =>
    t("canvas.flowMoved", { direction: t(DIRECTIONS[direction as keyof typeof DIRECTIONS]), x, y }),
  "edge.a11yDescription.default": t("canvas.flowEdge"),
  "handle.ariaLabel": t("canvas.flowHandle"),
} satisfies ReactFlowProps["ariaLabelConfig"];
