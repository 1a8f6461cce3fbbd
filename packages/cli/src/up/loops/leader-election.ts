import { hostname } from 'node:os'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import type { Env } from '@coxswain/kit'
import type { LeaderElectionOptions } from '@coxswain/runtime'
import { CommandError } from '../../exit.ts'
import type { ControllerFlags } from '../options/controller-options.ts'
import type { StoreOptions } from '../options/store-options.ts'

/**
 * Leader election from flags; undefined when it is off. A store that only one process can open needs no wait
 * for a predecessor that was killed: it is known to be dead, so its successor uses the same identity.
 */
export function leaderElectionOf(
  flags: ControllerFlags & StoreOptions,
  env: Env,
): LeaderElectionOptions | undefined {
  if (flags.leaderElect === 'false') return undefined
  const read = (text: string) => durationToMilliseconds(parseDuration(text))
  const leaseDuration = read(flags.leaderElectLeaseDuration)
  const renewDeadline = read(flags.leaderElectRenewDeadline)
  const retryPeriod = read(flags.leaderElectRetryPeriod)
  if (leaseDuration <= renewDeadline || renewDeadline <= retryPeriod * 1.2 || retryPeriod <= 0) {
    throw new CommandError(
      '--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline, and that greater than 1.2 times --leader-elect-retry-period',
      { exitCode: 2 },
    )
  }
  const isShared = flags.storage === 'etcd'
  return {
    namespace: 'kube-system',
    leaseDuration,
    renewDeadline,
    retryPeriod,
    identity: `${hostname()}_${isShared ? env.random.uuid() : 'coxswain'}`,
  }
}
