import type { ControllerName } from '@coxswain/controllers/names'
import { daemonSets } from './daemon-sets.ts'
import { deployments } from './deployments.ts'
import type { Family } from './draw.ts'
import { cronJobs, jobs } from './jobs.ts'
import { owners } from './owners.ts'
import { quotas } from './quotas.ts'
import { replicaSets } from './replica-sets.ts'
import { services } from './services.ts'
import { statefulSets } from './stateful-sets.ts'
import { volumes } from './volumes.ts'

/** Families that are played with the same controllers. */
export interface Group {
  /** Those that run beside the controllers of workloads. */
  readonly controllers: readonly ControllerName[]
  readonly families: Readonly<Record<string, Family>>
}

export const groups: Readonly<Record<string, Group>> = {
  workloads: {
    controllers: [],
    families: {
      deployments,
      'replica-sets': replicaSets,
      'stateful-sets': statefulSets,
      'daemon-sets': daemonSets,
      jobs,
      'cron-jobs': cronJobs,
      services,
      owners,
      quotas,
    },
  },
  storage: {
    controllers: [
      'ephemeral-volume-controller',
      'persistentvolume-binder-controller',
      'persistentvolume-expander-controller',
      'persistentvolume-protection-controller',
    ],
    families: { volumes },
  },
}
