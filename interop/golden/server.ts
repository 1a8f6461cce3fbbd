import { type RunningServer, startServer } from '../support/coxswain.ts'

/**
 * How a server is started that the recordings are compared with: everything switched on that kube-apiserver has on by default,
 * no controllers, and the service range of the recorded server.
 */
const flags: readonly string[] = ['--controllers', 'none', '--service-cluster-ip-range', '10.0.0.0/16']

export function startGoldenServer(): Promise<RunningServer> {
  return startServer(...flags)
}
