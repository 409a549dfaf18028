import { useNotice } from "./notice";

/** The newest notice at the bottom of the canvas; `notice` announces it to screen readers. */
export function NoticeLine() {
  const sentence = useNotice((state) => state.sentence);
  return sentence === "" ? null : (
    <p className="notice-line" aria-hidden="true">
      {sentence}
    </p>
  );
}
