import type { ModuleType } from "../../api/shapes";
import { Prose } from "../../forms/Prose";
import { t } from "../../words/t";

const EFFECTS: Record<ModuleType["effect"], string> = {
  none: t("inspector.changesNothingOutside"),
  idempotent: t("inspector.changesSomethingOutsideDoingItTwice"),
  database: t("inspector.writesToTheDatabaseTogether"),
  external: t("inspector.changesSomethingOutsideTwice"),
};

/** The module's description and properties. */
export function About({ use, type }: { use: string; type: ModuleType | undefined }) {
  if (!type) return <p className="subtle">{t("inspector.nothingIsKnown", { module: use })}</p>;
  const outcomes = type.outcomes.length > 0 ? type.outcomes : ["success"];
  return (
    <div className="about">
      <h3>{type.title}</h3>
      <p>
        <Prose text={type.description} />
      </p>
      <dl>
        <dt>{t("inspector.type")}</dt>
        <dd>
          <code>{type.type}</code>
        </dd>
        <dt>{t("inspector.effect")}</dt>
        <dd>{EFFECTS[type.effect]}</dd>
        <dt>{t("inspector.outcomes")}</dt>
        <dd>{[...outcomes, "error"].join(", ")}</dd>
        <dt>{t("inspector.queue")}</dt>
        <dd>{type.inline ? t("inspector.noneRunsWithTheEnginesOwn") : type.queue}</dd>
        <dt>{t("inspector.credential")}</dt>
        <dd>
          {type.credential.reduce(
            (one, other) => (one ? t("inspector.or", { one, other }) : other),
            "",
          ) || t("inspector.noCredential")}
        </dd>
        {type.circuitTarget && (
          <>
            <dt>{t("inspector.circuitBreaker")}</dt>
            <dd>
              <Prose text={type.circuitTarget} />
            </dd>
          </>
        )}
      </dl>
      <h4>{t("inspector.parametersThatWork")}</h4>
      <pre>{JSON.stringify(type.example, null, 2)}</pre>
    </div>
  );
}
