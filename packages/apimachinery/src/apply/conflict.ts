import { compareCodePoints } from '../go/print-value.ts'
import { quote } from '../go/quote.ts'
import type { StatusCause } from '../meta/status.ts'
import { newApplyConflict } from '../status/constructors.ts'
import type { StatusError } from '../status/status-error.ts'
import { forEachPath } from './field-set.ts'
import type { Manager, Managers } from './managed-fields.ts'
import { printElement } from './path-element.ts'
import type { Conflict } from './updater.ts'

/** The 409 of an apply, with a cause for each field that another manager owns. */
export function conflictError(conflicts: readonly Conflict[], managers: Managers): StatusError {
  const causes: StatusCause[] = []
  const lines: string[] = []
  const sorted = [...conflicts].sort((a, b) => compareCodePoints(a.manager, b.manager))
  let single = ''
  for (const { manager, set } of sorted) {
    const name = printManager(managers.get(manager)!)
    lines.push(`conflicts with ${name}:`)
    forEachPath(set, path => {
      const field = path.map(printElement).join('')
      causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field })
      lines.push(`- ${field}`)
      single = `Apply failed with 1 conflict: conflict with ${name}: ${field}`
    })
  }
  const many = `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`
  return newApplyConflict(causes, causes.length === 1 ? single : many)
}

function printManager({ manager, operation, subresource, apiVersion }: Manager): string {
  const name =
    subresource === '' ? quote(manager) : `${quote(manager)} with subresource ${quote(subresource)}`
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
