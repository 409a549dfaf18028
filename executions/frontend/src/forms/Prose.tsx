/** A text with code between backticks. */
export const Prose = ({ text }: { text: string }) =>
  text.split(/`([^`]+)`/).map((part, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
    at % 2 === 1 ? <code key={at}>{part}</code> : part,
  );
