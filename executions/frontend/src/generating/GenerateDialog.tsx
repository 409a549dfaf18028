import { useEffect, useId, useRef, useState } from "react";
import { wordsOf } from "../api/client";
import { useCredentials } from "../inspector/credentials";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { Icon } from "../shared/Icon";
import { browserStorage } from "../shared/storage";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import "./generating.css";
import { generate, MODULE } from "./generating";

const KEY = "studioModel";

/** Asks for a description, from which a language model writes a draft. */
export function GenerateDialog() {
  const [description, setDescription] = useState("");
  const [model, setModel] = useState(() => browserStorage.read(KEY) ?? "");
  const [credential, setCredential] = useState("");
  const [trouble, setTrouble] = useState("");
  const [busy, setBusy] = useState(false);
  const asking = useRef(new AbortController());
  const [about, which, known] = [useId(), useId(), useId()];
  const { secrets } = useCredentials();
  const types = useStudio((state) => state.types.get(MODULE)?.credential ?? []);
  const close = (): void => useStudio.getState().set({ dialog: null });
  useEffect(() => {
    const asked = new AbortController();
    asking.current = asked;
    return () => asked.abort();
  }, []);
  const missing = description.trim() === "" || model.trim() === "";
  const write = async (): Promise<void> => {
    if (busy || missing) return;
    setBusy(true);
    setTrouble("");
    browserStorage.write(KEY, model.trim());
    const { signal } = asking.current;
    try {
      await generate({ description: description.trim(), model: model.trim(), credential }, signal);
      close();
      announce(t("generating.draftWritten"));
    } catch (error) {
      if (signal.aborted) return;
      setTrouble(wordsOf(error));
      setBusy(false);
    }
  };
  const refusal = busy
    ? t("generating.theModelIsWriting")
    : missing
      ? t("generating.describeAndNameTheModel")
      : undefined;
  return (
    <Dialog
      title={t("generating.generateADraft")}
      onClose={close}
      actions={
        <>
          <Button label={t("shared.cancel")} onClick={close} />
          <Button
            icon="auto_awesome"
            label={busy ? t("generating.writing") : t("generating.generate")}
            strong
            refusal={refusal}
            onClick={() => void write()}
          />
        </>
      }
    >
      <div className="form">
        {trouble !== "" && (
          <p className="wrong" role="alert">
            {trouble}
          </p>
        )}
        <div className="field">
          <label className="label" htmlFor={about}>
            {t("generating.description")}
          </label>
          <textarea
            id={about}
            data-first=""
            className="input"
            rows={5}
            placeholder={t("generating.example")}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        </div>
        <div className="generate-model">
          <div className="field">
            <label className="label" htmlFor={which}>
              {t("generating.model")}
            </label>
            <input
              id={which}
              className="input"
              autoComplete="off"
              spellCheck={false}
              value={model}
              onChange={(event) => setModel(event.target.value)}
            />
          </div>
          <div className="field">
            <label className="label" htmlFor={known}>
              {t("generating.credential")}
            </label>
            <select
              id={known}
              className="input"
              value={credential}
              onChange={(event) => setCredential(event.target.value)}
            >
              <option value="">{t("generating.none")}</option>
              {secrets
                .filter((one) => types.includes(one.type))
                .map((one) => (
                  <option key={one.name}>{one.name}</option>
                ))}
            </select>
          </div>
        </div>
        <p className="subtle generate-note">
          <Icon name="info" />
          <span>{t("generating.whatIsSent")}</span>
        </p>
        {busy && <p role="status">{t("generating.theModelIsWriting")}</p>}
      </div>
    </Dialog>
  );
}
