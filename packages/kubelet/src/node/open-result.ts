import type { OpenResult, OpenSocket, PortProblem } from '../kube-proxy/service-sockets.ts'

const problems: Readonly<Record<string, PortProblem>> = {
  EADDRINUSE: 'taken',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
  EADDRNOTAVAIL: 'no address',
}

const explanations: Readonly<Partial<Record<PortProblem, string>>> = {
  taken: 'the address is already in use',
  forbidden:
    'permission denied (ports below net.ipv4.ip_unprivileged_port_start, 1024 by default, need privileges)',
  'no address': 'the machine has no such address',
}

/** The result of an attempt to listen. */
export async function openResult(open: () => Promise<OpenSocket>): Promise<OpenResult> {
  try {
    return { opened: true, socket: await open() }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const problem = problems[code] ?? 'failed'
    return { opened: false, problem, message: explanations[problem] ?? message }
  }
}
