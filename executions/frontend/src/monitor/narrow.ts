/** Width below which the page has one column and a graph is broken into short lines, in pixels. */
const NARROW = 600;

/** Whether the page is as narrow as on a phone. */
export const isNarrow = (): boolean => window.innerWidth < NARROW;
