/** Every package can be published, imported and read about. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check, Finding } from './finding.ts'
import { entryPoints, type Manifest, readManifest, readPackages } from './workspace.ts'

const readmeLimit = 150

export const packageMetadata: Check = {
  name: 'package-metadata',
  async run(root) {
    const { license } = await readManifest(root)
    const packages = await readPackages(root)
    const versions = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]))
    const findings: Finding[] = []
    for (const { folder, manifest } of packages) {
      const base = join(root, 'packages', folder)
      for (const message of problemsOf(folder, manifest, license, versions)) {
        findings.push({ file: `packages/${folder}/package.json`, message })
      }
      const entries = await entryPoints(base, manifest)
      for (const [entry, target] of Object.entries(manifest.exports ?? {})) {
        const [head = '', tail = ''] = entry.split('*')
        const matches = entries.filter(each => each.entry.startsWith(head) && each.entry.endsWith(tail))
        if (!matches.some(({ file }) => existsSync(join(base, file)))) {
          findings.push({
            file: `packages/${folder}/package.json`,
            message: `exports ${entry} from ${target}: no such file`,
          })
        }
      }
      findings.push(...(await readmeFindings(root, folder)))
    }
    return findings
  },
}

function* problemsOf(
  folder: string,
  manifest: Manifest,
  license: string | undefined,
  versions: ReadonlyMap<string | undefined, string | undefined>,
): Generator<string> {
  const name = folder === 'coxswain' ? 'coxswain' : `@coxswain/${folder}`
  if (manifest.name !== name) yield `is called ${manifest.name}, not ${name}`
  if (!manifest.version) yield 'has no version'
  if (!manifest.description) yield 'has no description'
  if (manifest.license !== license) yield `has the license ${manifest.license}, not ${license}`
  if (manifest.type !== 'module') yield 'is not of type module'
  if (manifest.engines?.node !== '>=24') yield `asks for node ${manifest.engines?.node}, not >=24`
  if (Object.keys(manifest.exports ?? {}).length === 0) yield 'has no exports map'
  for (const [dependency, wanted] of Object.entries(manifest.dependencies ?? {})) {
    const own = versions.get(dependency)
    if (own !== undefined && own !== wanted) yield `wants ${dependency} ${wanted}, which is ${own}`
    if (own === undefined && !/^\d/.test(wanted)) yield `does not pin ${dependency}: ${wanted}`
  }
}

async function readmeFindings(root: string, folder: string): Promise<Finding[]> {
  const file = `packages/${folder}/README.md`
  if (!existsSync(join(root, file))) return [{ file, message: 'is missing' }]
  const lines = (await readFile(join(root, file), 'utf8')).split('\n').length - 1
  return lines < readmeLimit ? [] : [{ file, message: `has ${lines} lines, not under ${readmeLimit}` }]
}
