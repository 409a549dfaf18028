import { useEffect, useId, useState } from "react";
import { Button } from "../shared/Button";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { ago, clock } from "./ages";
import { hasFields, PayloadForm } from "./PayloadForm";
import { written } from "./payload";
import { useRecent } from "./recent";
import { sampleOf } from "./sample";
import { takePayload } from "./taking";
import { setPayload, useWish } from "./wish";

const SAMPLE = "sample";

/**
 * The payload: as a form if the workflow declares fields, or as JSON. It can be filled with a
 * sample, or with the payload of an earlier execution.
 */
export function PayloadField({ mistake }: { mistake: string }) {
  const input = useDocument().input;
  const text = useWish((state) => state.payload);
  const [trouble, setTrouble] = useState("");
  const [source, setSource] = useState(SAMPLE);
  const about = useId();
  const fillable = hasFields(input);
  const [form, setForm] = useState(fillable && mistake === "");
  useEffect(() => {
    if (text === null) setPayload(written(sampleOf(input)));
  }, [text, input]);
  const take = async (from: string): Promise<void> => {
    setSource(from);
    setTrouble("");
    if (from === SAMPLE) setPayload(written(sampleOf(input)));
    else setTrouble(await takePayload(from));
  };
  return (
    <div className="run-field">
      <div className="run-row">
        {form ? (
          <strong>{t("running.payload")}</strong>
        ) : (
          <label htmlFor={`${about}-text`}>{t("running.payloadJson")}</label>
        )}
        <span className="space" />
        {fillable && (
          <Button
            icon={form ? "data_object" : "list_alt"}
            label={form ? t("running.asJson") : t("running.asAForm")}
            refusal={mistake || undefined}
            onClick={() => setForm(!form)}
          />
        )}
        <Sources chosen={source} onChoose={(from) => void take(from)} />
      </div>
      {form ? (
        <PayloadForm schema={input ?? {}} text={text ?? ""} />
      ) : (
        <textarea
          id={`${about}-text`}
          className="run-code"
          rows={9}
          spellCheck={false}
          value={text ?? ""}
          aria-invalid={mistake !== ""}
          aria-describedby={about}
          onChange={(event) => setPayload(event.target.value)}
        />
      )}
      <p id={about} className={mistake || trouble ? "wrong" : "run-hint"} role="status">
        {mistake || trouble || t("running.templatesReadItAsInput")}
      </p>
    </div>
  );
}

function Sources({ chosen, onChoose }: { chosen: string; onChoose: (from: string) => void }) {
  const may = useStudio((state) => state.page.canSeePayloads);
  const recent = useRecent();
  const id = useId();
  return (
    <span className="run-source">
      <label htmlFor={id}>{t("running.takeIt")}</label>
      <select id={id} value={chosen} onChange={(event) => onChoose(event.target.value)}>
        <option value={SAMPLE}>{t("running.theInputsSchema")}</option>
        {may &&
          recent.map((one) => (
            <option key={one.id} value={one.id}>
              {t("running.theRunAt", { time: ago(one.createdAt), clock: clock(one.createdAt) })}
            </option>
          ))}
      </select>
    </span>
  );
}
