import { useNotice } from "./notice";

/** The newest sentence about what was done or refused; it is said aloud elsewhere. */
export function NoticeLine() {
  const sentence = useNotice((state) => state.sentence);
  return sentence === "" ? null : (
    <p className="notice-line" aria-hidden="true">
      {sentence}
    </p>
  );
}
