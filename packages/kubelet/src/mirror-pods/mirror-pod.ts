import type { DeepReadonly, ObjectMeta } from '@coxswain/apimachinery/meta'

export const mirrorAnnotation = 'kubernetes.io/config.mirror'
/** Where the parts of a control plane show themselves. */
export const mirrorNamespace = 'kube-system'

/** What the mirror of `pod` on a node is called. */
export function mirrorName(pod: string, node: string): string {
  return `${pod}-${node}`
}

/** A Pod that only shows what runs on a node anyway: an agent has nothing to do for it. */
export function isMirrorPod({ metadata }: { readonly metadata: DeepReadonly<ObjectMeta> }): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined
}
