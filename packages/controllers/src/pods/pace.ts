/**
 * Milliseconds between two looks at one object that owns or selects pods: of hundreds of pods that change at once, many are seen at
 * one look, and each look costs as much as there are pods.
 */
export const minInterval = 50
