export const isTorture: boolean = Number(process.env.TORTURE_RUNS ?? 0) > 0

/** After which of so many writes controllers are killed: after each in torture, otherwise after one that `salt` chooses. */
export function crashPoints(writes: number, salt: number = writes >> 1): readonly number[] {
  const all = Array.from({ length: writes }, (_, index) => index + 1)
  return isTorture || writes === 0 ? all : [all[salt % writes]!]
}
