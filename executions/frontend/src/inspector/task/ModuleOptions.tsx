import type { ModuleType } from "../../api/shapes";
import { grouped } from "../../palette/search";

/** The options of a select: module types by category, in the order of the palette. */
export function ModuleOptions({ types }: { types: readonly ModuleType[] }) {
  return grouped(types).map((group) => (
    <optgroup key={group.category} label={group.category}>
      {group.types.map((type) => (
        <option key={type.type} value={type.type}>
          {type.title}
        </option>
      ))}
    </optgroup>
  ));
}
