import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveAlone } from 'coxswain/server/node'
import definition from './server.ts'

const directory = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'pizza-'))
const { url, kubeconfig } = await serveAlone(definition, { kubeconfig: join(directory, 'kubeconfig') })
console.log(`the restaurant is open at ${url}, run: export KUBECONFIG=${kubeconfig}`)
