/**
 * Milliseconds between two reconciliations of one object that owns or selects pods. A reconciliation costs time proportional to
 * the number of pods, so changes of hundreds of pods are handled together.
 */
export const minInterval = 50
