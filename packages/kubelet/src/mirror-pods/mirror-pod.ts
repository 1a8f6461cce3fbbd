import type { DeepReadonly, ObjectMeta } from '@coxswain/apimachinery/meta'

export const mirrorAnnotation = 'kubernetes.io/config.mirror'
/** The namespace of mirror Pods. */
export const mirrorNamespace = 'kube-system'

/** The name of the mirror Pod of `pod` on a node. */
export function mirrorName(pod: string, node: string): string {
  return `${pod}-${node}`
}

/** Whether a Pod is a mirror Pod, which the kubelet does not run. */
export function isMirrorPod({ metadata }: { readonly metadata: DeepReadonly<ObjectMeta> }): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined
}
