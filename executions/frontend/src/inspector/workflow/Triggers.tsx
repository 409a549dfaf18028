import type { Json, JsonObject, Trigger } from "../../document/types";
import type { Frame } from "../../forms/frame";
import type { Pointer } from "../../forms/pointer";
import { SchemaForm } from "../../forms/SchemaForm";
import { Button } from "../../shared/Button";
import { Icon } from "../../shared/Icon";
import { useRefusal } from "../../store/readOnly";
import { t } from "../../words/t";
import { putInWorkflow } from "../editing";
import { useNames } from "../names";
import { partOf, useWorkflowSchema } from "../schema";
import { NextTimes } from "./NextTimes";
import { inWords } from "./schedule";

const KINDS: readonly [Trigger["type"], string, string, Trigger, string][] = [
  [
    "CRON",
    t("inspector.schedule"),
    "schedule",
    { type: "CRON", schedule: "0 8 * * *", timezone: "UTC" },
    t("inspector.addSchedule"),
  ],
  [
    "WEBHOOK",
    t("inspector.webhook"),
    "webhook",
    { type: "WEBHOOK", auth: "hmac" },
    t("inspector.addWebhook"),
  ],
  ["EVENT", t("inspector.event"), "bolt", { type: "EVENT", event: "" }, t("inspector.addEvent")],
  ["QUEUE", t("inspector.queue"), "inbox", { type: "QUEUE", queue: "" }, t("inspector.addQueue")],
];
const OWN = ["type", "ui"];

interface Props {
  triggers: readonly Trigger[];
  problems: Frame["problems"];
}

/** The triggers of the workflow. */
export function Triggers({ triggers, problems }: Props) {
  const refusal = useRefusal();
  const schema = useWorkflowSchema();
  if (!schema) return <p role="status">{t("shared.loading")}</p>;
  const put = (next: readonly Trigger[]): void =>
    putInWorkflow(["triggers"], next.length > 0 ? (next as unknown as Json) : undefined);
  return (
    <div className="form" data-field="triggers">
      <p className="subtle">{t("inspector.whatStartsTheWorkflowByItself")}</p>
      {triggers.map((trigger, at) => (
        <OneTrigger
          // biome-ignore lint/suspicious/noArrayIndexKey: triggers have no other name
          key={`${at} ${trigger.type}`}
          {...{ trigger, at, schema, problems, refusal }}
          onRemove={() => put(triggers.filter((_, index) => index !== at))}
        />
      ))}
      <fieldset className="add-trigger" aria-label={t("inspector.addATrigger")}>
        {KINDS.map(([type, word, icon, start, about]) => (
          <Button
            key={type}
            icon={icon}
            label={word}
            title={about}
            refusal={refusal}
            onClick={() => put([...triggers, start])}
          />
        ))}
      </fieldset>
    </div>
  );
}

interface OneProps {
  trigger: Trigger;
  at: number;
  schema: JsonObject;
  problems: Frame["problems"];
  refusal: string | undefined;
  onRemove: () => void;
}

function OneTrigger({ trigger, at, schema, problems, refusal, onRemove }: OneProps) {
  const names = useNames(null);
  const found = KINDS.find(([type]) => type === trigger.type);
  const word = found?.[1] ?? trigger.type;
  const base: Pointer = ["triggers", at];
  const own = problems.get(`triggers/${at}`) ?? [];
  return (
    <section
      className="trigger"
      aria-label={t("inspector.trigger", { number: at + 1, type: word })}
    >
      <h3>
        <Icon name={found?.[2] ?? "help"} /> {word}
        <span className="space" />
        <Button
          bare
          icon="delete"
          label={t("inspector.removeTrigger", { number: at + 1 })}
          refusal={refusal}
          onClick={onRemove}
        />
      </h3>
      {own.map((sentence) => (
        <p key={sentence} className="wrong">
          <Icon name="error" /> {sentence}
        </p>
      ))}
      {typeof trigger.schedule === "string" && (
        <>
          <InWords schedule={trigger.schedule} />
          <NextTimes trigger={trigger} />
        </>
      )}
      <SchemaForm
        schema={partOf(schema, "$defs", trigger.type.toLowerCase())}
        root={schema}
        value={trigger as unknown as Json}
        without={OWN}
        base={base}
        names={trigger.type === "EVENT" ? names : null}
        problems={problems}
        refusal={refusal}
        onChange={(pointer, value) => putInWorkflow([...base, ...pointer], value)}
      />
    </section>
  );
}

function InWords({ schedule }: { schedule: string }) {
  const words = inWords(schedule);
  return words === null ? null : <p className="in-words">{words}</p>;
}
