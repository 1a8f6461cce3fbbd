import { aborted } from '@coxswain/kit'
import { abortOnSignals } from '@coxswain/kit/node'
import { CommandError } from '../exit.ts'
import { findConfig } from '../host/load-config.ts'
import { refuseAbsent } from '../host/operator-files.ts'
import { watchOperators } from '../run/watch.ts'
import { type ControlPlaneFlags, startControlPlane } from './control-plane-process.ts'

export interface DevOptions extends ControlPlaneFlags {
  readonly config?: string
}

/**
 * Starts a control plane and, beside it, operators that run again whenever a file of theirs is saved. A signal stops the operators,
 * then the control plane.
 */
export async function runDev(files: readonly string[], options: DevOptions): Promise<void> {
  refuseAbsent(files)
  if (findConfig(options.config) === undefined && files.length === 0)
    throw new CommandError('no operators: name their files, or list them in coxswain.config.ts', {
      exitCode: 2,
    })
  using stop = abortOnSignals()
  const controlPlane = startControlPlane(options)
  const ready = await Promise.race([controlPlane.ready, aborted(stop.signal)])
  if (!ready) {
    if (stop.signal.aborted) return await controlPlane.stop()
    process.exitCode = await controlPlane.exited
    return
  }
  process.stdout.write(
    `control plane ready at ${ready.url}, data in ${options.dataDir}\n\n  export KUBECONFIG=${ready.kubeconfig}\n\n`,
  )
  const ended = new AbortController()
  controlPlane.exited.then(() => ended.abort())
  try {
    await watchOperators({
      signal: AbortSignal.any([stop.signal, ended.signal]),
      onReady: installed => void process.stdout.write(describeTries(installed)),
    })
  } finally {
    await controlPlane.stop()
  }
  if (!stop.signal.aborted) throw new CommandError('the control plane has ended')
}

/** What to try with these CustomResourceDefinitions. */
function describeTries(installed: readonly string[]): string {
  const tries = installed.flatMap(name => [
    `kubectl get ${name} -A --watch`,
    `kubectl explain ${name.split('.')[0]}.spec`,
  ])
  return `
  ${[...tries, 'kubectl get events -A --watch'].join('\n  ')}

Save a file to run it again; Ctrl-C stops everything.
`
}
