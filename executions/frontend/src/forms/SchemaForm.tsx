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
  /** Called with the new value of a field; undefined removes the key. */
  onChange: (pointer: Pointer, value: Json | undefined) => void;
  /** Properties that the form does not show. */
  without?: readonly string[];
  /** The schema that contains the `$defs` of references; by default `schema`. */
  root?: JsonObject;
  /** The pointer from the task or workflow to the form's value. */
  base?: Pointer;
  refusal?: string | undefined;
  problems?: Frame["problems"];
  /** The names that templates can use; without them, the form completes no names. */
  names?: (() => readonly Name[]) | null;
  /** Whether only text fields accept templates. */
  textOnly?: boolean;
}

const NOWHERE: Pointer = [];
const NO_PROBLEMS: Frame["problems"] = new Map();
const NOTHING: readonly string[] = [];

/** A form for the schema of an object. */
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

/** Return the value without the given keys. */
function omitted(value: Json | undefined, keys: readonly string[]): Json | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}
