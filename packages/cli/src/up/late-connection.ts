import { newNotFound } from '@coxswain/apimachinery'
import type { NodeConnection } from '@coxswain/apiserver'

/** A connection to nodes whose code is loaded when the first request for one comes. */
export function createLateConnection(
  nodes: ReadonlySet<string>,
  load: () => Promise<NodeConnection | undefined>,
): NodeConnection {
  const open = async (name: string): Promise<NodeConnection> => {
    const connection = await load()
    if (connection) return connection
    throw newNotFound({ group: '', resource: 'pods' }, name)
  }
  return {
    hasNode: node => nodes.has(node),
    ask: async (node, request) => await (await open(node)).ask(node, request),
    readLog: async (pod, ...rest) => await (await open(pod.name)).readLog(pod, ...rest),
    exec: async (pod, ...rest) => await (await open(pod.name)).exec(pod, ...rest),
    attach: async (pod, ...rest) => await (await open(pod.name)).attach(pod, ...rest),
    dial: async (pod, port) => await (await open(pod.name)).dial(pod, port),
  }
}
