/** A width, in pixels, below which the page has one column and a graph is broken into short lines. */
const NARROW = 600;

/** Whether the page is as narrow as a phone. */
export const isNarrow = (): boolean => window.innerWidth < NARROW;
