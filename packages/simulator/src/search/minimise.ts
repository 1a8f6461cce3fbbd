import type { Fault } from '../fault.ts'
import type { Plan } from '../plan.ts'

/** The most plans that are tried to make a failure smaller. */
const mostTries = 40

/** Removes faults and actions, and rounds times, as long as `fails` still holds. */
export async function minimise(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let least = plan
  let tries = 0
  const attempt = async (smaller: Plan): Promise<boolean> => {
    if (tries++ >= mostTries || !(await fails(smaller))) return false
    least = smaller
    return true
  }
  for (let index = 0; index < least.faults.length && least.faults.length > 1; )
    if (!(await attempt({ ...least, faults: least.faults.toSpliced(index, 1) }))) index++
  if (least.replicas !== undefined && least.replicas > 1) {
    const { replicas: _, ...alone } = least
    await attempt(alone)
  }
  // Later actions first: what follows a failure is seldom needed for it.
  for (let index = (least.actions?.length ?? 0) - 1; index >= 0 && (least.actions?.length ?? 0) > 1; index--)
    await attempt({ ...least, actions: least.actions!.toSpliced(index, 1) })
  for (const [index, fault] of least.faults.entries())
    for (const rounded of roundTimes(fault)) {
      const faults = least.faults.toSpliced(index, 1, rounded)
      if (await attempt({ ...least, faults })) break
    }
  return least
}

/** The same fault with shorter, round times, the shortest first. */
function roundTimes(fault: Fault): Fault[] {
  if (!('ms' in fault) || fault.ms < 0) return []
  return [1_000, 5_000, 10_000].filter(ms => ms < fault.ms).map(ms => ({ ...fault, ms }))
}
