import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Check, formatFinding } from '../finding.ts'

/** A repository in a temporary folder that breaks no rule; a test adds what does. */
const sound: Record<string, string> = {
  'package.json': JSON.stringify({ license: 'Apache-2.0', scripts: { test: 'true', 'test:pack': 'true' } }),
  'package-lock.json': JSON.stringify({ packages: { 'node_modules/pino': { version: '10.4.0' } } }),
  'layers.json': JSON.stringify({ packages: { wire: ['kit'], kit: [] } }),
  'README.md': '# Sound\n',
  'tools/generated.json': '[]',
  'docs/exports.md':
    '# What the packages export\n\nFunctions, classes and constants; types are in the declarations. Written by `npm run check -- exports-page --write` from the comments in the sources.\n\n## `@coxswain/wire`\n\n| name | what it is |\n| --- | --- |\n| `wired` | Wired. |\n\n## `@coxswain/kit`\n\n| name | what it is |\n| --- | --- |\n| `wait` | Now. |\n',
  'packages/kit/package.json': manifest('kit', { pino: '10.4.0' }),
  'packages/kit/README.md': '# kit\n',
  'packages/kit/src/index.ts': "export { wait } from './wait.ts'\n",
  'packages/kit/src/wait.ts': "import 'pino'\n/** Now. */\nexport const wait: number = Date.now()\n",
  'packages/wire/package.json': manifest('wire', { '@coxswain/kit': '0.1.0' }),
  'packages/wire/README.md': '# wire\n',
  'packages/wire/src/index.ts':
    "import { wait } from '@coxswain/kit'\n/** Wired. */\nexport const wired: number = wait\n",
}

function manifest(folder: string, dependencies: Record<string, string>): string {
  return JSON.stringify({
    name: `@coxswain/${folder}`,
    version: '0.1.0',
    description: 'A package.',
    license: 'Apache-2.0',
    type: 'module',
    engines: { node: '>=24' },
    exports: { '.': './src/index.ts' },
    dependencies,
  })
}

/** Runs `check` on the sound repository with `files` added or replaced. Gives the findings as text. */
export async function findingsWith(
  check: Check,
  files: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'coxswain-check-'))
  try {
    for (const [path, text] of Object.entries({ ...sound, ...files })) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    return (await check.run(root)).map(finding => `${finding.level ?? 'error'} ${formatFinding(finding)}`)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}
