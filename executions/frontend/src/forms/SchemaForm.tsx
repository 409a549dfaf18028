import { useMemo } from "react";
import type { Json, JsonObject } from "../document/types";
import type { Name } from "../expressions/names";
import { t } from "../words/t";
import { type Frame, FrameContext } from "./frame";
import { propertiesOf } from "./kinds";
import { Fields } from "./ObjectField";
import type { Pointer } from "./pointer";
import "./forms.css";

export interface SchemaFormProps {
  schema: JsonObject;
  value: Json | undefined;
  /** Another value in one place of the form; undefined takes it out. */
  onChange: (pointer: Pointer, value: Json | undefined) => void;
  /** Properties that are not asked for. */
  without?: readonly string[];
  /** Where references of the schema lead; the schema itself unless given. */
  root?: JsonObject;
  /** Where the form's value stands below the task or the workflow. */
  base?: Pointer;
  refusal?: string | undefined;
  problems?: Frame["problems"];
  /** What templates may name here; none are offered without. */
  names?: (() => readonly Name[]) | null;
  /** Templates stand in texts alone. */
  textOnly?: boolean;
}

const NOWHERE: Pointer = [];
const NO_PROBLEMS: Frame["problems"] = new Map();
const NOTHING: readonly string[] = [];

/** A form for an object's schema. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, value, onChange, refusal } = props;
  const {
    root = schema,
    base = NOWHERE,
    problems = NO_PROBLEMS,
    names = null,
    textOnly = false,
  } = props;
  const { without = NOTHING } = props;
  const properties = useMemo(
    () => propertiesOf(schema, root).filter((one) => !without.includes(one.key)),
    [schema, root, without],
  );
  const frame: Frame = { root, base, refusal, problems, change: onChange, names, textOnly };
  return (
    <FrameContext.Provider value={frame}>
      <div className="form">
        {properties.length === 0 && <p className="subtle">{t("forms.takesNoParameters")}</p>}
        <Fields
          properties={properties}
          pointer={NOWHERE}
          value={without.length > 0 ? omitted(value, without) : value}
        />
      </div>
    </FrameContext.Provider>
  );
}

/** The value without keys that are shown elsewhere. */
function omitted(value: Json | undefined, keys: readonly string[]): Json | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}
