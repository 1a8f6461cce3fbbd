import { childObject, isObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { defaultTemplate, specOf } from './defaults.ts'

/** Sets a member that is absent. */
function fill(object: JsonObject, defaults: JsonObject): void {
  for (const [key, value] of Object.entries(defaults)) object[key] ??= value
}

export const deploymentStrategy: Strategy = {
  generation: true,
  default(object) {
    const spec = specOf(object)
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
    const strategy = childObject(spec, 'strategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      fill(childObject(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' })
    }
    defaultTemplate(spec)
  },
}

export const replicaSetStrategy: Strategy = {
  generation: true,
  default(object) {
    const spec = specOf(object)
    spec.replicas ??= 1
    defaultTemplate(spec)
  },
}

export const daemonSetStrategy: Strategy = {
  generation: true,
  default(object) {
    const spec = specOf(object)
    spec.revisionHistoryLimit ??= 10
    const strategy = childObject(spec, 'updateStrategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') {
      fill(childObject(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 })
    }
    defaultTemplate(spec)
  },
  prepareForCreate(object) {
    childObject(object.metadata as JsonObject, 'annotations')[templateGeneration] = '1'
  },
}

/** A relic that the kind still carries. */
const templateGeneration = 'deprecated.daemonset.template.generation'

export const statefulSetStrategy: Strategy = {
  generation: true,
  default(object) {
    const spec = specOf(object)
    fill(spec, { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 })
    const strategy = childObject(spec, 'updateStrategy')
    strategy.type ??= 'RollingUpdate'
    if (strategy.type === 'RollingUpdate') childObject(strategy, 'rollingUpdate').partition ??= 0
    fill(childObject(spec, 'persistentVolumeClaimRetentionPolicy'), {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    })
    for (const claim of Array.isArray(spec.volumeClaimTemplates)
      ? spec.volumeClaimTemplates.filter(isObject)
      : []) {
      claim.apiVersion ??= 'v1'
      claim.kind ??= 'PersistentVolumeClaim'
      childObject(claim, 'spec').volumeMode ??= 'Filesystem'
      fill(childObject(claim, 'status'), { phase: 'Pending' })
    }
    defaultTemplate(spec)
  },
}
