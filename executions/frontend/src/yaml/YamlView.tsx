import { type RefObject, useEffect, useRef } from "react";
import { usePending } from "../saving/pending";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { Editor } from "./Editor";
import { Mistakes } from "./Mistakes";
import { LINE_HEIGHT } from "./measures";
import { type Place, placeIn } from "./parsing";
import { applyText, followDocument, pointerOf, useYamlText } from "./text";
import "./yaml.css";

/** Pause in typing before the text is applied to the document, in milliseconds. */
const PAUSE = 400;

/** The whole workflow as editable text. */
export function YamlView() {
  const document = useDocument();
  const text = useYamlText((state) => state.text);
  const mistakes = useYamlText((state) => state.mistakes);
  const canEdit = useStudio((state) => state.page.canEdit);
  const area = useRef<HTMLTextAreaElement>(null);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => followDocument(document), [document]);
  usePending(applyText);
  useShownTask(area);
  const typed = (value: string): void => {
    useYamlText.setState({ text: value });
    clearTimeout(pause.current);
    pause.current = setTimeout(applyText, PAUSE);
  };
  return (
    <section aria-label={t("yaml.yaml")} className="yamlview">
      <Editor
        area={area}
        text={text}
        readOnly={!canEdit}
        mistake={mistakes[0]?.line ?? null}
        onType={typed}
      />
      <Mistakes mistakes={mistakes} onGo={(place) => goTo(area, place)} />
    </section>
  );
}

/** Scroll to the selected task when the view opens, and when the selection changes. */
function useShownTask(area: RefObject<HTMLTextAreaElement | null>): void {
  const selected = useStudio((state) => state.selection.tasks[0]);
  const written = useYamlText((state) => state.text !== "");
  useEffect(() => {
    if (selected === undefined || !written) return;
    const { history } = useStudio.getState();
    const place = placeIn(useYamlText.getState().text, pointerOf(history.present, selected));
    if (place) show(area.current, place.line);
  }, [selected, written, area]);
}

function show(area: HTMLTextAreaElement | null, line: number): void {
  if (area) area.scrollTop = Math.max(0, (line - 3) * LINE_HEIGHT);
}

/** Set the cursor. */
function goTo(area: RefObject<HTMLTextAreaElement | null>, { line, column }: Place): void {
  const field = area.current;
  if (!field) return;
  const before = field.value.split("\n").slice(0, line - 1);
  const offset = before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
  field.focus();
  field.setSelectionRange(offset, offset);
  show(field, line);
}
