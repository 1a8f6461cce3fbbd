import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { kindFor } from '../kind-for.ts'
import { resourcePath } from '../path.ts'

const pods = kindFor({ group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true })

export function podPath(pod: ObjectKey, subresource: string): string {
  return resourcePath(pods, { ...pod, subresource })
}
