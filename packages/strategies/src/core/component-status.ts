import type { ComponentStatus } from '@coxswain/api/core/v1'
import { defineStrategy } from '../define-strategy.ts'
import { nameCell } from '../shared/cells.ts'

import type { Strategy } from '../strategy.ts'

/** Shown, never stored: the endpoint `componentstatuses` of the API server makes them. */
export const componentStatusStrategy: Strategy = defineStrategy<ComponentStatus>({
  deprecated: 'v1 ComponentStatus is deprecated in v1.19+',
  cells: object => {
    const healthy = (object.conditions ?? []).find(({ type }) => type === 'Healthy')
    if (!healthy) return { Name: nameCell(object), Status: 'Unknown', Message: '', Error: '' }
    const status = healthy.status === 'True' ? 'Healthy' : 'Unhealthy'
    return {
      Name: nameCell(object),
      Status: status,
      Message: healthy.message ?? '',
      Error: healthy.error ?? '',
    }
  },
})
