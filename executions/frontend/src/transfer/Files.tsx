import { type DragEvent, useId, useState } from "react";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { rich } from "../words/rich";
import { t } from "../words/t";

interface Props {
  multiple: boolean;
  onText: (text: string, name: string) => void;
}

/** Accepts files by drag and drop, by choosing, or as pasted text. */
export function Files({ multiple, onText }: Props) {
  const [over, setOver] = useState(false);
  const [pasted, setPasted] = useState("");
  const [choose, paste] = [useId(), useId()];
  const take = (files: FileList | null): void => {
    for (const file of Array.from(files ?? []).slice(0, multiple ? 50 : 1)) {
      void file.text().then((text) => onText(text, file.name));
    }
  };
  const dropped = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files);
  };
  return (
    <div className="files">
      <label
        className={over ? "drop over" : "drop"}
        htmlFor={choose}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={dropped}
      >
        <Icon name="upload_file" />
        <span>
          {multiple
            ? rich("transfer.dropFiles", { choose: <u>{t("transfer.chooseFiles")}</u> })
            : rich("transfer.dropFile", { choose: <u>{t("transfer.chooseFile")}</u> })}
        </span>
        <small>{t("transfer.yamlJsonOrAnExport")}</small>
        <input
          id={choose}
          type="file"
          className="unseen"
          accept=".yaml,.yml,.json,application/json,application/yaml,text/yaml"
          multiple={multiple}
          onChange={(event) => {
            take(event.target.files);
            event.target.value = "";
          }}
        />
      </label>
      <label htmlFor={paste}>{t("transfer.orPaste")}</label>
      <textarea
        id={paste}
        rows={3}
        spellCheck={false}
        value={pasted}
        onChange={(event) => setPasted(event.target.value)}
      />
      <Button
        label={t("transfer.readWhatIsPasted")}
        refusal={pasted.trim() ? undefined : t("transfer.nothingIsPastedYet")}
        onClick={() => {
          onText(pasted, "pasted");
          setPasted("");
        }}
      />
    </div>
  );
}
