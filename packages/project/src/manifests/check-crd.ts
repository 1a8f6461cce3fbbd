import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { CustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import { validateCrd } from '@coxswain/strategies/apiextensions'
import { ProjectError } from '../errors.ts'

/** How many problems are named. */
const most = 20

/** Throws `BadManifests` with what a server would say about a definition; rules in CEL are checked against the types of the schema. */
export function checkCrd(crd: CustomResourceDefinition): void {
  const storedVersions = crd.spec.versions.filter(({ storage }) => storage).map(({ name }) => name)
  const errors = validateCrd({ ...crd, status: { storedVersions } } as unknown as JsonObject, undefined)
  if (errors.length === 0) return
  const lines = errors.slice(0, most).map(error => `  ${field.formatFieldError(error)}`)
  const more = errors.length > most ? [`  and ${errors.length - most} more`] : []
  throw new ProjectError(
    'BadManifests',
    [`CustomResourceDefinition ${crd.metadata.name} is invalid:`, ...lines, ...more].join('\n'),
  )
}
