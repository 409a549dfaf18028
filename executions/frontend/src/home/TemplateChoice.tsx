import { useMemo, useState } from "react";
import { t } from "../words/t";
import { modulesIn, type Template } from "./templates";

interface Props {
  templates: Template[];
  chosen: Template | null;
  onChoose: (template: Template | null) => void;
}

/** A choice between an empty workflow and the examples, which list their modules. */
export function TemplateChoice({ templates, chosen, onChoose }: Props) {
  const [query, setQuery] = useState("");
  const found = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    return templates.filter((one) => {
      if (one === chosen) return true;
      const text = [one.title, one.description, ...one.tags, ...modulesIn(one)].join(" ");
      return words.every((word) => text.toLowerCase().includes(word));
    });
  }, [templates, query, chosen]);
  if (templates.length === 0) return null;
  return (
    <fieldset className="templates">
      <legend>{t("home.beginWith")}</legend>
      <input
        type="search"
        aria-label={t("home.searchTheExamples")}
        placeholder={t("home.searchTheExamples")}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
        onKeyDown={(event) => {
          // Enter in the search field must not submit the form.
          if (event.key === "Enter") event.preventDefault();
        }}
      />
      <div className="template-grid">
        <label className="template">
          <input
            type="radio"
            name="template"
            checked={chosen === null}
            onChange={() => onChoose(null)}
          />
          <strong>{t("home.nothing")}</strong>
          <span>{t("home.anEmptyCanvas")}</span>
        </label>
        {found.map((one) => (
          <label key={one.name} className="template">
            <input
              type="radio"
              name="template"
              checked={chosen?.name === one.name}
              onChange={() => onChoose(one)}
            />
            <strong>{one.title}</strong>
            <span>{one.description}</span>
            <code>{modulesIn(one).join(" · ")}</code>
          </label>
        ))}
      </div>
      {found.length === 0 && <p role="status">{t("home.noExampleFits")}</p>}
    </fieldset>
  );
}
