import { type ContainerRecord, hasSucceeded } from './container-record.ts'

/**
 * The containers to start now: init containers one after the other, a sidecar before the containers after it, and once the
 * Pod `hasBegun` all others at any time.
 */
export function findDue(
  records: readonly ContainerRecord[],
  hasBegun: boolean,
  isDue: (record: ContainerRecord) => boolean,
): readonly ContainerRecord[] {
  const due: ContainerRecord[] = []
  for (const record of records) {
    if (record.role === 'init') {
      if (hasBegun || hasSucceeded(record)) continue
      return isDue(record) ? [...due, record] : due
    }
    if (isDue(record)) due.push(record)
    if (record.role === 'sidecar' && !record.started && !hasBegun) return due
  }
  return due
}

/** All are stopped at once, and sidecars end last, in reverse start order: `turn` resolves when a sidecar may be stopped. */
export async function stopInOrder(
  records: readonly ContainerRecord[],
  stop: (record: ContainerRecord, turn?: Promise<unknown>) => Promise<void>,
): Promise<void> {
  const isSidecar = ({ role }: ContainerRecord) => role === 'sidecar'
  const others = records.filter(record => !isSidecar(record))
  let turn: Promise<unknown> = Promise.all(others.map(record => stop(record)))
  for (const record of records.filter(isSidecar).reverse()) turn = Promise.all([turn, stop(record, turn)])
  await turn
}
