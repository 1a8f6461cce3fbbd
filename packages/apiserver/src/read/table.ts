import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { PrinterColumn } from '@coxswain/apimachinery/kinds'
import { newBadRequest } from '@coxswain/apimachinery/status'
import { formatAge } from '@coxswain/apimachinery/time'
import type { Endpoint } from '../registry/registry.ts'
import { type JsonPath, printJsonPath, tryJsonPath } from './json-path.ts'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** Throws a 400 in upstream's words for other values. */
export function parseIncludeObject(value: string | undefined): IncludeObject {
  if (value === undefined || value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  const detail = field.invalid(
    field.Path.of('includeObject'),
    value,
    "must be 'Metadata', 'Object', 'None', or empty",
  )
  throw newBadRequest(`Unable to convert to Table as requested: ${detail.field}: ${detail.body}`)
}

const nameColumn: PrinterColumn = { name: 'Name', type: 'string', format: 'name', priority: 0 }
const ageColumn: PrinterColumn = {
  name: 'Age',
  type: 'date',
  priority: 0,
  jsonPath: '.metadata.creationTimestamp',
}
const createdColumn: PrinterColumn = {
  name: 'Created At',
  type: 'date',
  priority: 0,
  jsonPath: '.metadata.creationTimestamp',
}

/** Rows of one resource at one version. */
export interface TablePrinter {
  readonly columns: readonly PrinterColumn[]
  cells(object: JsonObject, now: number): readonly unknown[]
}

export function createTablePrinter({ resource, version }: Endpoint): TablePrinter {
  const { cells, extraCells = [] } = resource.strategy
  if (cells) {
    const names = [...version.columns.map(column => column.name), ...extraCells]
    return {
      columns: version.columns,
      cells: (object, now) => {
        const row = cells(object, now)
        return names.map(name => row[name])
      },
    }
  }
  const declared = resource.printsDeclaredColumns ? version.columns : [createdColumn]
  const columns = [nameColumn]
  const readers: (JsonPath | undefined)[] = [undefined]
  for (const column of declared.length > 0 ? declared : [ageColumn]) {
    const read = tryJsonPath(column.jsonPath ?? '')
    // Upstream prints the columns up to the first one with an unparsable path.
    if (!read) break
    columns.push(column)
    readers.push(read)
  }
  return {
    columns,
    cells: (object, now) =>
      columns.map((column, i) => {
        const read = readers[i]
        if (!read) return (object.metadata as JsonObject).name ?? ''
        return resource.printsDeclaredColumns || column.name === 'Age'
          ? toCell(column, read(object), now)
          : read(object)[0]
      }),
  }
}

/**
 * The cell of a custom column: numbers and booleans keep their type, dates become ages, everything else is text. For several
 * values upstream shows the first.
 */
function toCell(column: PrinterColumn, values: readonly unknown[], now: number): unknown {
  const [first] = values
  if (first === undefined || first === null) return null
  switch (column.type) {
    case 'integer':
      return typeof first === 'number' ? Math.trunc(first) : typeof first === 'bigint' ? first : null
    case 'number':
      return typeof first === 'number' || typeof first === 'bigint' ? first : null
    case 'boolean':
      return typeof first === 'boolean' ? first : null
    case 'date':
      return typeof first === 'string' ? formatAge(first, now) : null
    default:
      return printJsonPath(first)
  }
}

/** An entry of `columnDefinitions`. */
export function columnDefinitions(columns: readonly PrinterColumn[]): readonly JsonObject[] {
  return columns.map(({ name, type, format = '', description = '', priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
}

export function partialMetadata(object: JsonObject, version: 'v1' | 'v1beta1'): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata }
}

/** The `object` of a row. */
export function rowObject(
  object: JsonObject,
  include: IncludeObject,
  version: 'v1' | 'v1beta1',
): JsonObject | null {
  if (include === 'None') return null
  return include === 'Object' ? object : partialMetadata(object, version)
}
