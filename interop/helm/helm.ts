import { join } from 'node:path'
import { type Expectations, expecting, type Session } from '../kubectl/session.ts'
import { execute, root } from '../support/coxswain.ts'

export const chart: string = 'interop/helm/chart'

/** A real Helm that works in the namespace of a session. */
export function createHelm({ kubeconfig, directory }: Session): Expectations {
  const environment = { KUBECONFIG: kubeconfig, HOME: directory, XDG_CACHE_HOME: '', XDG_CONFIG_HOME: '' }
  return expecting('helm', (...args) => execute(join(root, '.cache/bin/helm-4'), args, environment))
}
