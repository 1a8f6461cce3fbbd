import type { Fault } from '../fault.ts'

/** Removes faults as long as `fails` still holds; tries at most `limit` runs. */
export async function minimiseFaults(
  faults: readonly Fault[],
  fails: (faults: readonly Fault[]) => Promise<boolean>,
  limit = 20,
): Promise<readonly Fault[]> {
  let least = faults
  let tries = 0
  for (let index = 0; index < least.length && least.length > 1 && tries < limit; tries++) {
    const fewer = least.toSpliced(index, 1)
    if (await fails(fewer)) least = fewer
    else index++
  }
  return least
}
