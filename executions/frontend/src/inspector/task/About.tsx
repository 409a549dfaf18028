import type { ModuleType } from "../../api/shapes";
import { Prose } from "../../forms/Prose";

const EFFECTS: Record<ModuleType["effect"], string> = {
  none: "Changes nothing outside.",
  idempotent: "Changes something outside; doing it twice is the same as once.",
  database: "Writes to the database together with its record: both, or neither.",
  external: "Changes something outside; doing it twice does it twice.",
};

/** What the module does, as its own description says. */
export function About({ use, type }: { use: string; type: ModuleType | undefined }) {
  if (!type) return <p className="subtle">Nothing is known of "{use}".</p>;
  const outcomes = type.outcomes.length > 0 ? type.outcomes : ["success"];
  return (
    <div className="about">
      <h3>{type.title}</h3>
      <p>
        <Prose text={type.description} />
      </p>
      <dl>
        <dt>Type</dt>
        <dd>
          <code>{type.type}</code>
        </dd>
        <dt>Effect</dt>
        <dd>{EFFECTS[type.effect]}</dd>
        <dt>Outcomes</dt>
        <dd>{[...outcomes, "error"].join(", ")}</dd>
        <dt>Queue</dt>
        <dd>{type.inline ? "none: runs with the engine's own work" : type.queue}</dd>
        <dt>Credential</dt>
        <dd>{type.credential.length > 0 ? type.credential.join(" or ") : "none"}</dd>
        {type.circuitTarget && (
          <>
            <dt>Circuit breaker</dt>
            <dd>
              by <Prose text={type.circuitTarget} />
            </dd>
          </>
        )}
      </dl>
      <h4>Parameters that work</h4>
      <pre>{JSON.stringify(type.example, null, 2)}</pre>
    </div>
  );
}
