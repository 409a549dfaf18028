import { useState } from "react";
import { Button } from "../shared/Button";

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
      {shown} of {count} are shown.{" "}
      <Button
        label={`Show ${Math.min(MORE, count - shown)} more`}
        onClick={() => onShow(shown + MORE)}
      />
    </p>
  );
}
