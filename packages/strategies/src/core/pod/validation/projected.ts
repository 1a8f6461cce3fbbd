import type {
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isObject } from '@coxswain/apimachinery/json'
import type { Decoded } from '../../../decoded.ts'
import { type Findings, numberOf, requireMembers } from '../../../shared/reading.ts'
import { validateDownwardFile, validateKeyToPath } from './files.ts'
import { validateFileMode, validateLocalPath } from './paths.ts'

/** Files from several sources in one directory; no two may have the same path. */
export function* validateProjected(projected: Decoded<ProjectedVolumeSource>, path: field.Path): Findings {
  yield* validateFileMode(projected.defaultMode, path.child('defaultMode'))
  const seen = new Set<string>()
  for (const [index, source] of (projected.sources ?? []).entries()) {
    const at = path.child('sources').index(index)
    yield* validateKeyedSource(source, 'secret', at, path, seen)
    yield* validateKeyedSource(source, 'configMap', at, path, seen)
    if (source.downwardAPI) {
      for (const file of source.downwardAPI.items ?? []) {
        yield* validateDownwardFile(file, at.child('downwardAPI'))
        if ((file.path ?? '') !== '') yield* claimPath(seen, file.path ?? '', file.path ?? '', path)
      }
    }
    if (source.serviceAccountToken) yield* validateToken(source.serviceAccountToken, at, path)
    if (Object.values(source).filter(isObject).length > 1)
      yield field.forbidden(at, 'may not specify more than 1 volume type per source')
  }
}

function* claimPath(seen: Set<string>, target: string, value: string, path: field.Path): Findings {
  if (seen.has(target)) yield field.invalid(path, value, 'conflicting duplicate paths')
  seen.add(target)
}

function* validateKeyedSource(
  source: Decoded<VolumeProjection>,
  type: 'secret' | 'configMap',
  at: field.Path,
  path: field.Path,
  seen: Set<string>,
): Findings {
  const keyed = source[type]
  if (!keyed) return
  yield* requireMembers(keyed, ['name'], at.child(type))
  for (const [index, item] of (keyed.items ?? []).entries()) {
    yield* validateKeyToPath(item, at.child(type, 'items').index(index))
    if ((item.path ?? '') !== '') yield* claimPath(seen, item.path ?? '', keyed.name ?? '', path)
  }
}

function* validateToken(
  token: Decoded<ServiceAccountTokenProjection>,
  at: field.Path,
  path: field.Path,
): Findings {
  const seconds = numberOf(token.expirationSeconds)
  const expiration = at.child('serviceAccountToken', 'expirationSeconds')
  if (seconds < 600)
    yield field.invalid(
      expiration,
      token.expirationSeconds ?? 0,
      'may not specify a duration less than 10 minutes',
    )
  if (seconds > 2 ** 32)
    yield field.invalid(
      expiration,
      token.expirationSeconds,
      'may not specify a duration larger than 2^32 seconds',
    )
  yield* requireMembers(token, ['path'], path)
  yield* validateLocalPath(token.path ?? '', path.child('path'))
}
