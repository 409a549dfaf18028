import { useState } from "react";
import { Button } from "../shared/Button";
import { t } from "../words/t";

/** Number of rows that are shown at first; a thousand rows would block the page. */
const FEW = 25;
const MORE = 100;

/** Return the number of rows to show, and a function that raises it; new rows come last. */
export function useShown(): [shown: number, show: (count: number) => void] {
  const [shown, setShown] = useState(FEW);
  return [shown, (count) => setShown((old) => Math.max(old, count))];
}

interface Props {
  count: number;
  shown: number;
  onShow: (count: number) => void;
}

/** Says how many rows are hidden, with a button to show more. */
export function ShowMore({ count, shown, onShow }: Props) {
  if (count <= shown) return null;
  return (
    <p className="more-rows">
      {t("forms.shownOf", { shown, count })}{" "}
      <Button
        label={t("forms.showMore", { count: Math.min(MORE, count - shown) })}
        onClick={() => onShow(shown + MORE)}
      />
    </p>
  );
}
