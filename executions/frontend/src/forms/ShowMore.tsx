import { useState } from "react";
import { Button } from "../shared/Button";
import { t } from "../words/t";

/** How many rows of a long list or map are there at first: a thousand would hold up the page. */
const FEW = 25;
const MORE = 100;

/** How many rows to show, and a way to show more; added rows come behind all others. */
export function useShown(): [shown: number, show: (count: number) => void] {
  const [shown, setShown] = useState(FEW);
  return [shown, (count) => setShown((old) => Math.max(old, count))];
}

interface Props {
  count: number;
  shown: number;
  onShow: (count: number) => void;
}

/** Says how many rows are not there, and shows more of them. */
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
