import type { JsonObject } from '@coxswain/apimachinery/json'
import { eachSchema, isShared, readCrd, versionsOf } from './crd.ts'

/** The supported string formats, without dashes. */
const stringFormats = new Set([
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'uuid3',
  'uuid4',
  'uuid5',
  'isbn',
  'isbn10',
  'isbn13',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'password',
  'date',
  'duration',
  'datetime',
  'k8sshortname',
  'k8slongname',
])

function isRecognized(format: string, type: string | undefined): boolean {
  if (!type || type === 'string') return stringFormats.has(format.replaceAll('-', ''))
  if (type === 'integer') return format === 'int32' || format === 'int64'
  return type === 'number' && (format === 'float' || format === 'double')
}

/** Formats of a CRD that are not supported, in the order found; those of the old CRD are ignored. */
export function unrecognizedFormats(object: JsonObject, old: JsonObject | undefined): string[] {
  const known = new Set(old ? formatsOf(old) : [])
  return formatsOf(object).filter(format => !known.has(format))
}

function formatsOf(object: JsonObject): string[] {
  const { spec } = readCrd(object)
  const versions = versionsOf(spec)
  const formats: string[] = []
  for (const { schema } of isShared(spec, 'schema') ? versions.slice(0, 1) : versions) {
    if (!schema?.openAPIV3Schema) continue
    for (const { format, type } of eachSchema(schema.openAPIV3Schema)) {
      if (format && !isRecognized(format, type)) formats.push(format)
    }
  }
  return formats
}
