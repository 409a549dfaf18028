import { type ReactNode, useId, useState } from "react";
import { Refused } from "../../api/client";
import type { ModuleType, Problem } from "../../api/shapes";
import type { Json } from "../../document/types";
import { Button } from "../../shared/Button";
import { Dialog } from "../../shared/Dialog";
import { type CredentialType, useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { makeCredential } from "../credentials";
import { hostOf, hostsOf, type OwnField, offeredTypes, valuesOf, wrongIn } from "./asked";

interface Props {
  type: ModuleType;
  task: Json;
  onClose: () => void;
  onMade: (name: string) => void;
}

const NO_FIELD: OwnField = { name: "", value: "" };

/**
 * Asks for a new credential and creates it.
 *
 * Only this dialog has the values, until it closes. They are sent once to the server, which seals
 * them and never returns them.
 */
export function CredentialDialog({ type, task, onClose, onMade }: Props) {
  const offered = offeredTypes(
    useStudio((state) => state.page.credentialTypes),
    type,
  );
  const [kind, setKind] = useState(offered[0]);
  const [name, setName] = useState("");
  const [values, setValues] = useState<Record<string, string>>({});
  const [own, setOwn] = useState<readonly OwnField[]>([NO_FIELD]);
  const [hosts, setHosts] = useState(() => hostOf(task));
  const [refused, setRefused] = useState<Refused | null>(null);
  const [busy, setBusy] = useState(false);
  if (!kind) return null;
  const problems = refused?.errors ?? [];
  const make = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setRefused(null);
    const typed = hostsOf(hosts);
    try {
      await makeCredential({
        name: name.trim(),
        type: kind.name,
        fields: valuesOf(values, kind.fields.length === 0 ? own : []),
        ...(kind.suggestsHosts || typed.length === 0 ? {} : { hosts: typed }),
      });
      onMade(name.trim());
    } catch (error) {
      setRefused(error instanceof Refused ? error : new Refused(0, String(error)));
      setBusy(false);
    }
  };
  const actions = (
    <>
      <Button label={t("shared.cancel")} onClick={onClose} />
      <Button
        label={t("inspector.createCredential")}
        strong
        refusal={busy ? t("inspector.theCredentialIsBeingMade") : undefined}
        onClick={() => void make()}
      />
    </>
  );
  return (
    <Dialog title={t("inspector.newCredentialTitle")} onClose={onClose} actions={actions}>
      <form
        className="form credential-form"
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        {refused && (
          <p className="wrong" role="alert">
            {refused.detail}
          </p>
        )}
        <Part
          label={t("inspector.credentialName")}
          hint={t("inspector.credentialNameHint")}
          wrong={wrongIn(problems, "name")}
        >
          {(given) => (
            <input
              {...given}
              data-first=""
              className="input"
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Part>
        {offered.length > 1 && (
          <Part label={t("inspector.credentialType")}>
            {(given) => (
              <select
                {...given}
                className="input"
                value={kind.name}
                onChange={(event) => {
                  setKind(offered.find((one) => one.name === event.target.value) ?? kind);
                  setValues({});
                  setRefused(null);
                }}
              >
                {offered.map((one) => (
                  <option key={one.name} value={one.name}>
                    {`${one.name}: ${one.title}`}
                  </option>
                ))}
              </select>
            )}
          </Part>
        )}
        <Values kind={kind} values={values} problems={problems} onChange={setValues} />
        {kind.fields.length === 0 && <OwnFields own={own} problems={problems} onChange={setOwn} />}
        {!kind.suggestsHosts && (
          <Part
            label={t("inspector.credentialHosts")}
            hint={t("inspector.credentialHostsHint")}
            wrong={wrongIn(problems, "hosts")}
          >
            {(given) => (
              <input
                {...given}
                className="input"
                autoComplete="off"
                spellCheck={false}
                value={hosts}
                onChange={(event) => setHosts(event.target.value)}
              />
            )}
          </Part>
        )}
        {/* Enter in a field creates the credential, as the button does. */}
        <input type="submit" hidden />
      </form>
    </Dialog>
  );
}

interface ValuesProps {
  kind: CredentialType;
  values: Readonly<Record<string, string>>;
  problems: readonly Problem[];
  onChange: (values: Record<string, string>) => void;
}

function Values({ kind, values, problems, onChange }: ValuesProps) {
  return [...kind.fields, ...kind.optional].map((field) => (
    <Part
      key={field}
      label={kind.optional.includes(field) ? t("inspector.optionalField", { field }) : field}
      wrong={wrongIn(problems, `fields.${field}`)}
    >
      {(given) => (
        <input
          {...given}
          className="input"
          type={kind.known.includes(field) ? "text" : "password"}
          autoComplete={kind.known.includes(field) ? "off" : "new-password"}
          spellCheck={false}
          value={values[field] ?? ""}
          onChange={(event) => onChange({ ...values, [field]: event.target.value })}
        />
      )}
    </Part>
  ));
}

interface OwnProps {
  own: readonly OwnField[];
  problems: readonly Problem[];
  onChange: (own: readonly OwnField[]) => void;
}

/** The fields of a type without fixed fields. */
function OwnFields({ own, problems, onChange }: OwnProps) {
  const change = (at: number, part: Partial<OwnField>): void =>
    onChange(own.map((one, index) => (index === at ? { ...one, ...part } : one)));
  return (
    <fieldset className="credential-own">
      <legend className="label">{t("inspector.credentialFields")}</legend>
      {own.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
        <div key={at} className="credential-row">
          <input
            className="input"
            aria-label={t("inspector.fieldName", { number: at + 1 })}
            placeholder={t("inspector.fieldName", { number: at + 1 })}
            autoComplete="off"
            value={one.name}
            onChange={(event) => change(at, { name: event.target.value })}
          />
          <input
            className="input"
            type="password"
            aria-label={t("inspector.fieldValue", { number: at + 1 })}
            placeholder={t("inspector.fieldValue", { number: at + 1 })}
            autoComplete="new-password"
            value={one.value}
            onChange={(event) => change(at, { value: event.target.value })}
          />
          <Wrong said={one.name === "" ? [] : wrongIn(problems, `fields.${one.name.trim()}`)} />
        </div>
      ))}
      <Wrong said={wrongIn(problems, "fields")} />
      <Button
        icon="add"
        label={t("inspector.addField")}
        onClick={() => onChange([...own, NO_FIELD])}
      />
    </fieldset>
  );
}

interface Given {
  id: string;
  "aria-describedby": string;
  "aria-invalid": true | undefined;
}

interface PartProps {
  label: string;
  hint?: string;
  wrong?: readonly string[];
  children: (given: Given) => ReactNode;
}

/** A control with its label, hint and problems. */
function Part({ label, hint, wrong = [], children }: PartProps) {
  const id = useId();
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": `${id}-about`,
        "aria-invalid": wrong.length > 0 || undefined,
      })}
      <div id={`${id}-about`}>
        {hint && <p className="subtle">{hint}</p>}
        <Wrong said={wrong} />
      </div>
    </div>
  );
}

const Wrong = ({ said }: { said: readonly string[] }) =>
  said.map((sentence) => (
    <p key={sentence} className="wrong">
      {sentence}
    </p>
  ));
