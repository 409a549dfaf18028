import { Icon } from "../shared/Icon";
import { t } from "../words/t";
import type { Place, TextMistake } from "./parsing";

interface Props {
  mistakes: readonly TextMistake[];
  onGo: (place: Place) => void;
}

/** The errors in the text, by line; while there are any, the workflow does not change. */
export function Mistakes({ mistakes, onGo }: Props) {
  return (
    <div className="yaml-mistakes" role="status">
      {mistakes.length === 0 ? (
        <p className="yaml-hint">{t("yaml.commentsAreSaved")}</p>
      ) : (
        <p>{t("yaml.theTextIsNotTakenOver")}</p>
      )}
      {mistakes.map((one) => (
        <button
          key={`${one.line}:${one.column}${one.message}`}
          type="button"
          className="problem"
          onClick={() => onGo(one)}
        >
          <span className="problem-mark error">
            <Icon name="error" />
          </span>
          <code>{t("yaml.lineColumn", { line: one.line, column: one.column })}</code>
          <span>{one.message}</span>
        </button>
      ))}
    </div>
  );
}
