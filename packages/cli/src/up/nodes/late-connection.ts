import type { NodeConnection } from '@coxswain/apiserver'

/** A connection to nodes that are being started: requests for them wait. */
export function createLateConnection(
  nodes: ReadonlySet<string>,
  connection: Promise<NodeConnection>,
): NodeConnection {
  return {
    hasNode: node => nodes.has(node),
    ask: async (...rest) => await (await connection).ask(...rest),
    readLog: async (...rest) => await (await connection).readLog(...rest),
    exec: async (...rest) => await (await connection).exec(...rest),
    attach: async (...rest) => await (await connection).attach(...rest),
    dial: async (...rest) => await (await connection).dial(...rest),
  }
}
