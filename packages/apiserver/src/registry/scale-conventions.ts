import { decodeBuiltin } from '@coxswain/api'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { PrinterColumn } from '@coxswain/apimachinery/kinds'
import { newBadRequest } from '@coxswain/apimachinery/status'
import type { ScaleConventions } from './conventions.ts'

export const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const
export const scaleVersion = 'autoscaling/v1'

const columns: readonly PrinterColumn[] = [
  { name: 'Name', type: 'string', priority: 0 },
  { name: 'Desired', type: 'integer', priority: 0 },
  { name: 'Available', type: 'integer', priority: 0 },
  { name: 'Age', type: 'string', priority: 0 },
]

/** Upstream prints those of custom resources differently. */
const customColumns: readonly PrinterColumn[] = columns.map(column =>
  column.name === 'Name'
    ? { ...column, format: 'name' }
    : column.name === 'Age'
      ? { ...column, type: 'date' }
      : column,
)

const decode = (body: JsonObject): JsonObject =>
  decodeBuiltin(scaleKind, { ...body, apiVersion: scaleVersion, kind: scaleKind.kind }).object

export const builtinScale: ScaleConventions = {
  columns,
  decode: body => {
    try {
      return decode(body)
    } catch (error) {
      if (!isMachineryError(error)) throw error
      throw newBadRequest(`Scale in version "v1" cannot be handled as a Scale: ${error.message}`)
    }
  },
  rejectsNegative: true,
}

/** The validation of a custom resource decides which replicas it accepts. */
export const customScale: ScaleConventions = {
  columns: customColumns,
  decode: body => {
    const { kind, apiVersion } = {
      kind: body.kind ?? scaleKind.kind,
      apiVersion: body.apiVersion ?? scaleVersion,
    }
    try {
      if (kind === scaleKind.kind && apiVersion === scaleVersion) return decode(body)
    } catch (error) {
      if (!isMachineryError(error)) throw error
    }
    throw newBadRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"')
  },
  rejectsNegative: false,
}
