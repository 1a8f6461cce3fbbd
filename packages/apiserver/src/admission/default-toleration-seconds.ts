import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'

const seconds = 300
const troubles = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Lets a Pod stay five minutes on a node that is not ready or unreachable, unless it says otherwise. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  needs: 'pods',
  mutate(attributes) {
    if (!isPodWrite(attributes, 'CREATE', 'UPDATE') || !attributes.object) return
    const spec = childObject(attributes.object, 'spec')
    const tolerations: JsonObject[] = Array.isArray(spec.tolerations) ? spec.tolerations.filter(isObject) : []
    const isTolerated = (key: string) =>
      tolerations.some(
        toleration =>
          (toleration.key === key || !toleration.key) &&
          (toleration.effect === 'NoExecute' || !toleration.effect),
      )
    const missing = troubles.filter(key => !isTolerated(key))
    if (missing.length === 0) return
    const added = missing.map(key => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: seconds,
    }))
    spec.tolerations = [...tolerations, ...added]
  },
}
