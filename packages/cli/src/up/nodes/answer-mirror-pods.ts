import { newBadRequest } from '@coxswain/apimachinery/status'
import type { NodeConnection } from '@coxswain/apiserver'
import { type LogBuffer, mirrorName, mirrorNamespace } from '@coxswain/kubelet/host'
import { type ComponentLogs, components } from './component-logs.ts'

type PodAddress = Parameters<NodeConnection['readLog']>[0]

/** Serves the mirror Pods of the control plane on `node`; requests for other Pods go to `connection`. */
export function answerMirrorPods(
  connection: NodeConnection,
  node: string,
  logs: ComponentLogs,
): NodeConnection {
  const names = new Map(components.map(component => [mirrorName(component, node), component]))
  const find = ({ namespace, name }: PodAddress): LogBuffer | undefined => {
    const component = namespace === mirrorNamespace ? names.get(name) : undefined
    return component && logs.of(component)
  }
  const refuse = (pod: PodAddress, what: string): void => {
    if (!find(pod)) return
    throw newBadRequest(`pod ${pod.name} is a mirror pod of the coxswain process: cannot ${what} it`)
  }
  return {
    ...connection,
    async readLog(pod, container, options) {
      const log = find(pod)
      if (!log) return await connection.readLog(pod, container, options)
      if (options.previous)
        throw newBadRequest(`previous terminated container "${container}" in pod "${pod.name}" not found`)
      return log.read(options)
    },
    async exec(pod, container, command, io) {
      refuse(pod, 'run a command in')
      return await connection.exec(pod, container, command, io)
    },
    async attach(pod, container, io) {
      refuse(pod, 'attach to')
      await connection.attach(pod, container, io)
    },
    async dial(pod, port) {
      refuse(pod, 'forward ports to')
      return await connection.dial(pod, port)
    },
  }
}
