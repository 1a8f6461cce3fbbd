import type { OpenResult, OpenSocket, PortProblem } from '../kube-proxy/service-sockets.ts'

const problems: Readonly<Record<string, PortProblem>> = {
  EADDRINUSE: 'taken',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
  EADDRNOTAVAIL: 'no address',
}

const explanations: Readonly<Partial<Record<PortProblem, string>>> = {
  taken: 'somebody else listens there',
  forbidden:
    'this user may not listen there (ports below 1024, unless net.ipv4.ip_unprivileged_port_start says so)',
  'no address': 'the machine has no such address',
}

/** What became of an attempt to listen. */
export async function openResult(open: () => Promise<OpenSocket>): Promise<OpenResult> {
  try {
    return { opened: true, socket: await open() }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const problem = problems[code] ?? 'failed'
    return { opened: false, problem, message: explanations[problem] ?? message }
  }
}
