import type { ComponentCheck, ComponentHealth } from '@coxswain/apiserver'

/** The health ports of separate programs, upstream's. */
const ports = { 'controller-manager': 10257, scheduler: 10259 } as const

/** Milliseconds. */
const timeout = 20_000

/**
 * The answers to `kubectl get componentstatuses`. Components of this process are healthy once they have started, since the
 * process exits when one of them fails; others are probed as upstream does.
 */
export function createComponentChecks(
  areOurs: boolean,
  haveStarted: () => boolean,
): Readonly<Record<string, ComponentCheck>> {
  const own: ComponentCheck = async () =>
    haveStarted() ? { healthy: true, message: 'ok' } : { healthy: false, error: 'not started yet' }
  return Object.fromEntries(
    Object.entries(ports).map(([name, port]) => [name, areOurs ? own : () => ask(port)]),
  )
}

async function ask(port: number): Promise<ComponentHealth> {
  const url = `https://127.0.0.1:${port}/healthz`
  const { request } = await import('node:https')
  return await new Promise(resolve => {
    const options = { agent: false, rejectUnauthorized: false, signal: AbortSignal.timeout(timeout) }
    const sent = request(url, options, async answer => {
      let message = ''
      for await (const chunk of answer.setEncoding('utf8')) message += chunk
      const { statusCode = 0 } = answer
      resolve({ healthy: statusCode >= 200 && statusCode < 400, message })
    })
    sent.on('error', ({ message }) => resolve({ healthy: 'unknown', error: `Get "${url}": ${message}` }))
    sent.end()
  })
}
