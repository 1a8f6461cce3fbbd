import type { DownwardAPIVolumeFile, KeyToPath, SecretVolumeSource } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../../../decoded.ts'
import { type Findings, requireMembers } from '../../../shared/reading.ts'
import { validateFieldRef, validateResourceFieldRef, volumeFields } from './env.ts'
import { validateFileMode, validateLocalPath } from './paths.ts'

/** The files that keys of a secret or a config map become. */
export function* validateKeyedFiles(source: Decoded<SecretVolumeSource>, path: field.Path): Findings {
  yield* validateFileMode(source.defaultMode, path.child('defaultMode'))
  for (const [index, item] of (source.items ?? []).entries())
    yield* validateKeyToPath(item, path.child('items').index(index))
}

export function* validateKeyToPath(item: Decoded<KeyToPath>, path: field.Path): Findings {
  yield* requireMembers(item, ['key', 'path'], path)
  yield* validateLocalPath(item.path ?? '', path.child('path'))
  yield* validateFileMode(item.mode, path.child('mode'))
}

export function* validateDownwardFile(file: Decoded<DownwardAPIVolumeFile>, path: field.Path): Findings {
  yield* requireMembers(file, ['path'], path)
  yield* validateLocalPath(file.path ?? '', path.child('path'))
  if (file.fieldRef) {
    yield* validateFieldRef(file.fieldRef, volumeFields, path.child('fieldRef'))
    if (file.resourceFieldRef)
      yield field.invalid(
        path,
        'resource',
        'fieldRef and resourceFieldRef can not be specified simultaneously',
      )
  } else if (file.resourceFieldRef) {
    yield* validateResourceFieldRef(file.resourceFieldRef, path.child('resourceFieldRef'), true)
  } else {
    yield field.required(path, 'one of fieldRef and resourceFieldRef is required')
  }
  yield* validateFileMode(file.mode, path.child('mode'))
}
