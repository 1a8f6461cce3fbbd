import { childObject, type JsonObject } from '@coxswain/apimachinery/json'
import { defaultClassAnnotation } from '@coxswain/strategies'
import type { AdmissionPlugin } from './admission.ts'

const prefix = '/networking.k8s.io/ingressclasses/'
const classAnnotation = 'kubernetes.io/ingress.class'

interface IngressClassMetadata {
  readonly name: string
  readonly creationTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** Gives a new Ingress without a class the default one; the newest of several. */
export const defaultIngressClass: AdmissionPlugin = {
  name: 'DefaultIngressClass',
  needs: 'ingresses.networking.k8s.io',
  mutate({ operation, resource, subresource, object, server }) {
    const { group, resource: name } = resource.info
    if (operation !== 'CREATE' || group !== 'networking.k8s.io' || name !== 'ingresses') return
    if (subresource !== '' || !object) return
    const { annotations } = object.metadata as { annotations?: JsonObject }
    const spec = childObject(object, 'spec')
    if (spec.ingressClassName !== undefined || annotations?.[classAnnotation] !== undefined) return
    const [newest] = server.cache
      .resource(prefix)
      .list()
      .map(stored => stored.parse().metadata as unknown as IngressClassMetadata)
      .filter(metadata => metadata.annotations?.[defaultClassAnnotation] === 'true')
      .sort(newestFirst)
    if (newest) spec.ingressClassName = newest.name
  },
}

function newestFirst(a: IngressClassMetadata, b: IngressClassMetadata): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? 1 : -1
  return a.name < b.name ? -1 : 1
}
