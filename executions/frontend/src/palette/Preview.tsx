import type { ModuleType } from "../api/shapes";
import { firstSentence } from "../forms/labels";
import { t } from "../words/t";

const EFFECTS: Record<ModuleType["effect"], string> = {
  none: t("palette.noEffectOutside"),
  idempotent: t("palette.repeatable"),
  database: t("palette.writesWithItsRecord"),
  external: t("palette.actsOutside"),
};

/**
 * The description of a module, at the bottom of the palette. Screen readers read it with the item.
 */
export function Preview({ type }: { type: ModuleType | undefined }) {
  return (
    <div className="palette-preview" aria-hidden="true">
      {type ? (
        <>
          <strong>{type.title}</strong>
          <code>{type.type}</code>
          <p>{firstSentence(type.description)}</p>
          <small>{[EFFECTS[type.effect], ...type.outcomes].join(" · ")}</small>
        </>
      ) : (
        <p>{t("palette.clickAddsAModuleDraggingPlaces")}</p>
      )}
    </div>
  );
}
