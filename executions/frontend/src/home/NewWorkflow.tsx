import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { Refused } from "../api/client";
import { createWorkflow } from "../api/workflows";
import { emptyDocument } from "../document/reading";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { WorkspaceChoice } from "../transfer/WorkspaceChoice";
import { t } from "../words/t";
import { TemplateChoice } from "./TemplateChoice";
import { begunWith, listTemplates, type Template } from "./templates";
import "../transfer/transfer.css";

/** Creates an empty workflow, or one from an example, and opens it. */
export function NewWorkflow({ home, onClose }: { home: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [workspace, setWorkspace] = useState<string>();
  const [templates, setTemplates] = useState<Template[]>([]);
  const [chosen, setChosen] = useState<Template | null>(null);
  const [trouble, setTrouble] = useState("");
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const [form, field, why] = [useId(), useId(), useId()];
  // This runs after the dialog's own effect, which focuses its first control.
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    // Without examples, users can still create an empty workflow.
    listTemplates().then(setTemplates, () => setTemplates([]));
  }, []);
  const wanted = name.trim() || chosen?.title || "";
  const create = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    if (!wanted) {
      setTrouble(t("home.giveTheWorkflowAName"));
      return;
    }
    setBusy(true);
    try {
      const draft = chosen ? begunWith(chosen, wanted) : emptyDocument(wanted);
      const { data } = await createWorkflow(wanted, draft, workspace);
      location.assign(`${home}${data.id}/`);
    } catch (error) {
      setTrouble(error instanceof Refused ? error.detail : String(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("home.newWorkflow")}
      onClose={onClose}
      wide={templates.length > 0}
      actions={
        <>
          <Button label={t("shared.cancel")} onClick={onClose} />
          <Button
            label={t("home.create")}
            icon="add"
            strong
            type="submit"
            form={form}
            refusal={busy ? t("home.itIsBeingCreated") : undefined}
          />
        </>
      }
    >
      <form id={form} onSubmit={(event) => void create(event)}>
        <p className="asked first">
          <label htmlFor={field}>{t("home.name")}</label>
          <input
            ref={input}
            id={field}
            maxLength={200}
            value={name}
            placeholder={chosen?.title}
            aria-invalid={trouble !== ""}
            aria-describedby={why}
            onChange={(event) => {
              setName(event.target.value);
              setTrouble("");
            }}
          />
          <span id={why} role="alert">
            {trouble}
          </span>
        </p>
        <WorkspaceChoice value={workspace} onChange={setWorkspace} />
        <TemplateChoice templates={templates} chosen={chosen} onChoose={setChosen} />
      </form>
    </Dialog>
  );
}
