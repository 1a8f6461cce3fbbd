import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type Findings, listOf, requireMembers, textOf } from '../../../shared/reading.ts'
import { validateFieldRef, validateResourceFieldRef, volumeFields } from './env.ts'
import { validateFileMode, validateLocalPath } from './paths.ts'

/** The files that keys of a secret or a config map become. */
export function* validateKeyedFiles(source: JsonObject, path: field.Path): Findings {
  yield* validateFileMode(source.defaultMode, path.child('defaultMode'))
  for (const [index, item] of listOf(source.items).entries())
    yield* validateKeyToPath(item, path.child('items').index(index))
}

export function* validateKeyToPath(item: JsonObject, path: field.Path): Findings {
  yield* requireMembers(item, ['key', 'path'], path)
  yield* validateLocalPath(textOf(item.path), path.child('path'))
  yield* validateFileMode(item.mode, path.child('mode'))
}

export function* validateDownwardFile(file: JsonObject, path: field.Path): Findings {
  yield* requireMembers(file, ['path'], path)
  yield* validateLocalPath(textOf(file.path), path.child('path'))
  if (isObject(file.fieldRef)) {
    yield* validateFieldRef(file.fieldRef, volumeFields, path.child('fieldRef'))
    if (isObject(file.resourceFieldRef))
      yield field.invalid(
        path,
        'resource',
        'fieldRef and resourceFieldRef can not be specified simultaneously',
      )
  } else if (isObject(file.resourceFieldRef)) {
    yield* validateResourceFieldRef(file.resourceFieldRef, path.child('resourceFieldRef'), true)
  } else {
    yield field.required(path, 'one of fieldRef and resourceFieldRef is required')
  }
  yield* validateFileMode(file.mode, path.child('mode'))
}
