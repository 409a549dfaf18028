import { useState } from "react";
import type { ModuleType } from "../../api/shapes";
import type { Json } from "../../document/types";
import { announce } from "../../shared/announce";
import { Button } from "../../shared/Button";
import { useRefusal } from "../../store/readOnly";
import { useStudio } from "../../store/studio";
import { rich } from "../../words/rich";
import { t } from "../../words/t";
import { CredentialDialog } from "./CredentialDialog";

interface Props {
  /** The type of the module that will use the credential. */
  type: ModuleType;
  /** The task or module that will reference the credential. */
  task: Json;
  onMade: (name: string) => void;
}

/** The button that creates a credential, with a link to the credentials in the admin. */
export function NewCredential({ type, task, onMade }: Props) {
  const page = useStudio((state) => state.page);
  const readOnly = useRefusal();
  const [open, setOpen] = useState(false);
  const refusal = page.canConfigure ? undefined : t("inspector.yourRoleForbidsCredentials");
  return (
    <>
      <p className="new-credential">
        <Button
          icon="add"
          label={t("inspector.newCredential")}
          refusal={readOnly ?? refusal}
          onClick={() => setOpen(true)}
        />
        {page.credentialsPage !== "" && (
          <span className="subtle">
            {rich("inspector.manageInTheAdmin", {
              link: (
                <a href={page.credentialsPage} target="_blank" rel="noreferrer">
                  {t("inspector.credentialsOfTheWorkspace")}
                </a>
              ),
            })}
          </span>
        )}
      </p>
      {open && (
        <CredentialDialog
          type={type}
          task={task}
          onClose={() => setOpen(false)}
          onMade={(name) => {
            setOpen(false);
            onMade(name);
            announce(t("inspector.credentialMade", { name }));
          }}
        />
      )}
    </>
  );
}
