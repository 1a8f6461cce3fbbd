import { decodeText } from '@coxswain/kit'
import type { ContainerSpec } from '../../container-runtime.ts'

/** Identifies the processes of this test among all of the machine. */
export const uid: string = `u${process.pid}`
export const pod: ContainerSpec['pod'] = { uid, namespace: 'default', name: 'p' }
/** A container that runs a script of the shell. */
export const specOf = (script: string, more: Partial<ContainerSpec> = {}): ContainerSpec => ({
  pod,
  name: 'main',
  role: 'main',
  restartPolicy: 'Never',
  annotations: {},
  attempt: 0,
  image: 'busybox',
  command: ['sh', '-c', script],
  env: new Map(),
  mounts: [],
  stdin: false,
  stdinOnce: false,
  tty: false,
  terminationMessagePath: '/dev/termination-log',
  runAsNonRoot: false,
  ...more,
})

export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += decodeText(chunk)
  return text
}
