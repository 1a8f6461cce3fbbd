import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepClone, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { formatGroupVersion, type ObjectMeta } from '@coxswain/apimachinery/meta'
import { compileSchema } from '@coxswain/apimachinery/schema'
import {
  nameIsDNSSubdomain,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@coxswain/apimachinery/validation'
import { runRules } from './rule-run.ts'
import { findSkippedRules } from './rules.ts'

/**
 * What a server would say about a new object, or about an update from `old`: metadata, schema, formats, list types and CEL rules, after
 * pruning and defaults. A namespaced object without a namespace is taken to be in `default`. Nothing is changed.
 */
export function validateCustomObject(kind: Kind, object: unknown, old?: unknown): FieldError[] {
  const root = field.Path.root
  if (!isObject(object)) return [field.typeInvalid(root, object, 'must be an object')]
  const expected = formatGroupVersion(kind)
  const { apiVersion = expected, kind: named = kind.kind } = object
  const wrongType = [
    ...(named === kind.kind ? [] : [field.invalid(root.child('kind'), named, `must be ${kind.kind}`)]),
    ...(apiVersion === expected
      ? []
      : [field.invalid(root.child('apiVersion'), apiVersion, `must be ${expected}`)]),
  ]
  if (wrongType.length > 0) return wrongType
  const schema = kind.schema()
  const compiled = compileSchema(schema)
  const value = deepClone({ ...object, apiVersion, kind: named }) as JsonObject
  compiled.prune(value, { resourceRoot: true })
  compiled.dropNulls(value)
  const embedded = compiled.coerceEmbedded(value)
  if (embedded.error) return [embedded.error]
  compiled.applyDefaults(value)
  const errors = [...validateMetadata(kind, value, old), ...compiled.validate(value, { old })]
  const skipped = findSkippedRules(schema, errors)
  return skipped ? [...errors, skipped] : [...errors, ...runRules(schema, value, old).errors]
}

function validateMetadata({ namespaced }: Kind, { metadata }: JsonObject, old: unknown): FieldError[] {
  const path = field.Path.of('metadata')
  const given = isObject(metadata) ? (metadata as ObjectMeta) : {}
  const meta = namespaced && given.namespace === undefined ? { ...given, namespace: 'default' } : given
  const rules = { namespaced, validateName: nameIsDNSSubdomain }
  const errors = validateObjectMeta(meta, rules, path)
  if (!isObject(old) || !isObject(old.metadata)) return errors
  const before = old.metadata as ObjectMeta
  const was = namespaced && before.namespace === undefined ? { ...before, namespace: 'default' } : before
  const { resourceVersion = '1', uid, creationTimestamp, generation } = before
  const kept = { resourceVersion, uid, creationTimestamp, generation }
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
  return [...errors, ...validateObjectMetaUpdate({ ...present, ...meta }, was, path)]
}
