import { nameCell } from '../shared/cells.ts'
import { listOf, objectOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

/** Shown, never stored: the endpoint `componentstatuses` of the API server makes them. */
export const componentStatusStrategy: Strategy = {
  deprecated: 'v1 ComponentStatus is deprecated in v1.19+',
  cells: object => {
    const healthy = listOf(object.conditions)
      .map(objectOf)
      .find(({ type }) => type === 'Healthy')
    if (!healthy) return { Name: nameCell(object), Status: 'Unknown', Message: '', Error: '' }
    const status = healthy.status === 'True' ? 'Healthy' : 'Unhealthy'
    return {
      Name: nameCell(object),
      Status: status,
      Message: textOf(healthy.message),
      Error: textOf(healthy.error),
    }
  },
}
