/** Ranges of sizes and costs. The maximum saturates at 2^64, which stands for "no bound known". */
export interface Estimate {
  readonly min: number
  readonly max: number
}

export const unbounded: number = 2 ** 64

const cap = (value: number): number => Math.min(value, unbounded)

export const exactly = (value: number): Estimate => ({ min: value, max: value })
export const unknownSize: Estimate = { min: 0, max: unbounded }
export const zero: Estimate = exactly(0)
export const one: Estimate = exactly(1)

export function plus(...parts: readonly Estimate[]): Estimate {
  let min = 0
  let max = 0
  for (const part of parts) {
    min += part.min
    max += part.max
  }
  return { min: cap(min), max: cap(max) }
}

export function times(a: Estimate, b: Estimate): Estimate {
  return { min: cap(a.min * b.min), max: cap(a.max * b.max) }
}

export function scaled(a: Estimate, factor: number): Estimate {
  return { min: cap(Math.ceil(a.min * factor)), max: cap(Math.ceil(a.max * factor)) }
}

export function union(a: Estimate, b: Estimate): Estimate {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}
