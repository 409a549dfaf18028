import { type DragEvent, useId, useState } from "react";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";

interface Props {
  multiple: boolean;
  onText: (text: string, name: string) => void;
}

/** Takes files by dropping, choosing or pasting. */
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
          Drop {multiple ? "files" : "a file"} here, or <u>choose</u>
        </span>
        <small>YAML, JSON, or an export of n8n</small>
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
      <label htmlFor={paste}>Or paste it</label>
      <textarea
        id={paste}
        rows={3}
        spellCheck={false}
        value={pasted}
        onChange={(event) => setPasted(event.target.value)}
      />
      <Button
        label="Read what is pasted"
        refusal={pasted.trim() ? undefined : "Nothing is pasted yet."}
        onClick={() => {
          onText(pasted, "pasted");
          setPasted("");
        }}
      />
    </div>
  );
}
