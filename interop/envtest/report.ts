import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../../tools/components/index.ts'
import { isReference } from './assets.ts'

/** Where results are kept, a line each, for the table in docs/compatibility.md. */
const file = join(cacheFolder, 'envtest-results.txt')

export function report(line: string): void {
  appendFileSync(file, `${isReference ? 'etcd and kube-apiserver' : 'coxswain'}: ${line}\n`)
}
