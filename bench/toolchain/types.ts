import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '@coxswain/apimachinery/json'
import { readYamlDocuments, writeYamlDocuments } from '@coxswain/apimachinery/yaml'
import { downloadModule } from '../../interop/crds/operators.ts'
import { projects } from '../../interop/types/projects.ts'
import type { BenchCase } from '../harness.ts'
import { builtCommand } from './built.ts'

const count = 100

/** `coxswain types` for a hundred real CRDs, beside a bare Node start. */
export async function typesCases(stack: AsyncDisposableStack): Promise<BenchCase[]> {
  const command = await builtCommand()
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const input = join(folder, 'crds.yaml')
  await writeFile(input, writeYamlDocuments(await hundredDefinitions()))
  return [
    {
      name: `types for ${count} CRDs`,
      unit: 's of CPU',
      measure: () => cpuOf([command, 'types', input, '--out', join(folder, 'types')]),
      reference: { name: 'node -e 0', measure: () => cpuOf(['-e', '0']) },
      goal: { of: 'value', atMost: 2 },
    },
  ]
}

/** Those of well-known operators, the first of them once more under another group. */
async function hundredDefinitions(): Promise<object[]> {
  const found: object[] = []
  for (const { module, version, definitions } of projects) {
    const path = await downloadModule(module, version)
    for (const file of definitions.flatMap(pattern => globSync(pattern, { cwd: path })).sort())
      for (const { value } of readYamlDocuments(readFileSync(join(path, file))))
        if (isObject(value) && value.kind === 'CustomResourceDefinition') found.push(value)
  }
  const again = found.slice(0, Math.max(0, count - found.length)).map(crd => {
    const { spec, metadata } = crd as { spec: { group: string }; metadata: { name: string } }
    return {
      ...crd,
      metadata: { ...metadata, name: `${metadata.name}.again` },
      spec: { ...spec, group: `${spec.group}.again` },
    }
  })
  return [...found, ...again].slice(0, count)
}

/** Seconds of processor time of the program, by the shell's own account. */
function cpuOf(args: readonly string[]): Promise<number> {
  const quoted = [process.execPath, ...args].map(arg => `'${arg}'`).join(' ')
  const { stderr, status } = spawnSync('bash', ['-c', `TIMEFORMAT='%U %S'; time ${quoted} >/dev/null`], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  const [user = 0, system = 0] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
  return Promise.resolve(user + system)
}
