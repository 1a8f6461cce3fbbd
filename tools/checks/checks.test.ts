import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bannedGlobals } from './banned-globals.ts'
import { documentedExports } from './documented-exports.ts'
import { errorCodes } from './error-codes.ts'
import { exportsPage } from './exports-page.ts'
import { fileSize } from './file-size.ts'
import { focusedTests } from './focused-tests.ts'
import { checks } from './index.ts'
import { lockFile } from './lock-file.ts'
import { markdownLinks } from './markdown-links.ts'
import { namedExports } from './named-exports.ts'
import { packageMetadata } from './package-metadata.ts'
import { readmeCommands } from './readme-commands.ts'
import { spreadCalls } from './spread-calls.ts'
import { findingsWith } from './test-support/plant.ts'

for (const check of checks) {
  it(`${check.name} finds nothing in a sound repository`, async () => {
    assert.deepEqual(await findingsWith(check), [])
  })
}

describe('spread-calls', () => {
  const violations = [
    'list.push(...items)',
    'list.push(first, ...items.map(x => f(x)))',
    'list\n  .unshift(...items)',
    'list.splice(0, 1, ...items)',
    'list.concat(...lists)',
    'Math.max(0, ...items)',
    'Math.min(...new Set([1]))',
    'Math.max.apply(null, items)',
    'String.fromCharCode(...bytes)',
    'list.push(...[...items].filter(f))',
  ]
  for (const code of violations) {
    it(`catches ${code.replace(/\s+/g, ' ')}`, async () => {
      const found = await findingsWith(spreadCalls, {
        'packages/wire/src/bad.ts': `\nexport const x = ${code}\n`,
      })
      assert.equal(found.length, 1, found.join('\n'))
      assert.match(found[0]!, /^error packages\/wire\/src\/bad\.ts:\d a list as arguments of/)
    })
  }

  it('lets array literals, members of objects and calls inside arguments pass', async () => {
    const code = [
      "list.push(...['a', 'b'])",
      'list.push({ ...item })',
      'list.push([...items])',
      'list.push(f(...items))',
      '[...list, ...items]',
      'Math.max(a, b)',
      '// list.push(...items)',
    ]
    assert.deepEqual(await findingsWith(spreadCalls, { 'packages/wire/src/good.ts': code.join('\n') }), [])
  })
})

describe('banned-globals', () => {
  const violations = {
    'Date.now()': 'Date.now',
    'new Date()': 'new Date()',
    'new Date': 'new Date',
    'Date()': 'Date',
    'setTimeout(f, 1)': 'setTimeout',
    'globalThis.setInterval(f)': 'setInterval',
    'const { now } = { now: setImmediate }': 'setImmediate',
    'queueMicrotask(f)': 'queueMicrotask',
    'process.nextTick(f)': 'process.nextTick',
    'process.hrtime.bigint()': 'process.hrtime',
    'performance.now()': 'performance.now',
    'Math.random()': 'Math.random',
    'crypto.randomUUID()': 'crypto.randomUUID',
    'await crypto.subtle.digest(x)': 'crypto.subtle',
    'AbortSignal.timeout(5)': 'AbortSignal.timeout',
    'await fetch(url)': 'fetch',
    'console.log(1)': 'console.log',
    'await import("x")': 'import',
    '`${Date.now()}`': 'Date.now',
    'a / b; Date.now() // c / d': 'Date.now',
  }
  for (const [code, named] of Object.entries(violations)) {
    it(`catches ${code}`, async () => {
      const found = await findingsWith(bannedGlobals, {
        'packages/wire/src/bad.ts': `\nexport const x = () => ${code}\n`,
      })
      assert.equal(found.length, 1, found.join('\n'))
      assert.equal(found[0]?.split(' is banned')[0], `error packages/wire/src/bad.ts:2 ${named}`)
    })
  }

  const allowed = [
    '// Date.now()',
    '/* setTimeout */',
    "'Math.random()'",
    '`Date.now()`',
    '/Date.now()/.test(s)',
    '"it\'s" // fetch(x)',
    'new Date(ms)',
    'new Date(Date.parse(text))',
    'Date.parse(text)',
    'Date.UTC(2030, 0)',
    'client.fetch(key)',
    'this.#fetch(key)',
    'options.console.log(1)',
    'const setTimeouts = 1',
  ]
  for (const code of allowed) {
    it(`lets ${code} pass`, async () => {
      assert.deepEqual(await findingsWith(bannedGlobals, { 'packages/wire/src/good.ts': `${code}\n` }), [])
    })
  }

  it('lets kit, cli, src/node/ and tests do what they are for', async () => {
    const files = [
      'packages/kit/src/x.ts',
      'packages/cli/src/x.ts',
      'packages/wire/src/node/x.ts',
      'packages/wire/src/x.test.ts',
    ]
    assert.deepEqual(
      await findingsWith(bannedGlobals, Object.fromEntries(files.map(file => [file, 'console.log(1)']))),
      [],
    )
  })
})

describe('named-exports', () => {
  it('catches export *, but not a namespace with a name', async () => {
    const text = "export * as gen from './gen.ts'\nexport * from './wait.ts'\n"
    assert.deepEqual(await findingsWith(namedExports, { 'packages/kit/src/all.ts': text }), [
      'error packages/kit/src/all.ts:2 export * is banned: name each export',
    ])
  })
})

describe('error-codes', () => {
  const errors = "export type WireErrorCode =\n  /** `Lost` */\n  | 'Lost'\n  | 'Late'\n"

  it('catches a code that the README does not document, and one that no longer exists', async () => {
    const readme =
      '# wire\n\n## Error codes\n\n| code | when |\n|---|---|\n| `Lost` | gone |\n| `Old` | never |\n\n## Files\n- `Late`\n'
    const found = await findingsWith(errorCodes, {
      'packages/wire/src/errors.ts': errors,
      'packages/wire/README.md': readme,
    })
    assert.deepEqual(found, [
      'error packages/wire/src/errors.ts:4 error code Late is not in packages/wire/README.md under "Error codes"',
      'error packages/wire/README.md documents error code Old, which does not exist',
    ])
  })

  it('takes lists as well as tables', async () => {
    const readme = '# wire\n\n## Error codes\n\n- `Lost`, `Late`: see `other`\n'
    const files = { 'packages/wire/src/errors.ts': errors, 'packages/wire/README.md': readme }
    assert.deepEqual(await findingsWith(errorCodes, files), [])
  })

  it('catches a code outside errors.ts', async () => {
    const readme = '# wire\n\n## Error codes\n\n- `Lost`\n- `Late`\n'
    const found = await findingsWith(errorCodes, {
      'packages/wire/src/other.ts': errors,
      'packages/wire/README.md': readme,
    })
    assert.match(found[0] ?? '', /Lost belongs into src\/errors.ts/)
  })
})

describe('markdown-links', () => {
  it('catches a file, a heading and a folder that are not there', async () => {
    const found = await findingsWith(markdownLinks, {
      'README.md':
        '# A\n[x](gone.md)\n[y](docs/b.md#no-such)\n![z](../out.png)\n[w](/abs.md)\n[ref]: missing/\n',
      'docs/b.md': '# B\n',
    })
    assert.deepEqual(found, [
      'error README.md:2 gone.md does not exist',
      'error README.md:3 docs/b.md has no heading #no-such',
      'error README.md:4 ../out.png leaves the repository',
      'error README.md:5 /abs.md is not relative',
      'error README.md:6 missing/ does not exist',
    ])
  })

  it('catches a path that is named and not there', async () => {
    const found = await findingsWith(markdownLinks, {
      'README.md':
        '# A\n`packages/kit/src/wait.ts`\n```\npackages/kit/src/gone.ts -> bench/NAME/index.ts\n```\n',
    })
    assert.deepEqual(found, ['error README.md:4 there is no packages/kit/src/gone.ts'])
  })

  it('lets what resolves pass, and what is code or another site', async () => {
    const found = await findingsWith(markdownLinks, {
      'README.md':
        '# A b, `c`!\n[x](docs/b.md#b--c) [y](#a-b-c) [z](docs) [e](https://example.com/x) `[i](no)`\n```md\n[j](no)\n```\n',
      'docs/b.md': '[up](../README.md)\n\n## B & C\n',
    })
    assert.deepEqual(found, [])
  })
})

describe('readme-commands', () => {
  const block = (info: string, body: string) => ({ 'README.md': `# A\n\n\`\`\`${info}\n${body}\n\`\`\`\n` })

  it('catches a block that does not say whether it is tested', async () => {
    assert.match(
      (await findingsWith(readmeCommands, block('sh', 'true'))).join(),
      /README.md:3 a sh block is marked/,
    )
    assert.match((await findingsWith(readmeCommands, block('sh no-test', 'true'))).join(), /gives a reason/)
  })

  it('catches a script and a file that do not exist', async () => {
    const found = await findingsWith(
      readmeCommands,
      block('sh test', 'npm run gone\nnpm test\ncat packages/kit/gone.ts'),
    )
    assert.deepEqual(found, [
      'error README.md:3 there is no npm script gone',
      'error README.md:3 there is no file packages/kit/gone.ts',
    ])
  })

  it('lets a sound block pass', async () => {
    assert.deepEqual(
      await findingsWith(readmeCommands, block('sh test', 'npm run test:pack\nls packages/kit/src')),
      [],
    )
    assert.deepEqual(await findingsWith(readmeCommands, block('ts', 'npm run gone')), [])
  })
})

describe('lock-file', () => {
  it('catches a host, but not a link to a workspace', async () => {
    const lock = {
      packages: {
        a: { resolved: 'https://registry.example.com/a.tgz' },
        b: { resolved: 'packages/b', link: true },
      },
    }
    assert.deepEqual(await findingsWith(lockFile, { 'package-lock.json': JSON.stringify(lock) }), [
      'error package-lock.json a is resolved to https://registry.example.com/a.tgz',
    ])
  })

  it('catches a binary for another platform that was left out', async () => {
    const packages = {
      'node_modules/tool': { optionalDependencies: { 'tool-linux': '1.0.0', 'tool-darwin': '1.0.0' } },
      'node_modules/tool-linux': {},
    }
    assert.deepEqual(await findingsWith(lockFile, { 'package-lock.json': JSON.stringify({ packages }) }), [
      'error package-lock.json tool-darwin, an option of node_modules/tool, is missing: npm ci refuses that',
    ])
  })
})

describe('file-size', () => {
  it('warns past 400 lines and fails past 600, tests past 1,000', async () => {
    const lines = (count: number) => 'x\n'.repeat(count)
    const found = await findingsWith(fileSize, {
      'packages/kit/src/a.ts': lines(400),
      'packages/kit/src/b.ts': lines(401),
      'packages/kit/src/c.ts': lines(601),
      'packages/kit/src/d.test.ts': lines(1_000),
      'packages/kit/src/e.test.ts': lines(1_001),
      'packages/kit/src/gen/f.ts': lines(5_000),
    })
    assert.deepEqual(found, [
      'warning packages/kit/src/b.ts has 401 lines: what is the second concept?',
      'error packages/kit/src/c.ts has 601 lines, 600 is the end',
      'error packages/kit/src/e.test.ts has 1001 lines, 1000 is the end',
    ])
  })
})

describe('package-metadata', () => {
  it('catches everything a manifest can lack', async () => {
    const found = await findingsWith(packageMetadata, {
      'packages/wire/package.json': JSON.stringify({
        name: 'wire',
        license: 'MIT',
        engines: { node: '>=20' },
        exports: { './deep': './src/gone.ts' },
        dependencies: { '@coxswain/kit': '0.2.0', pino: '^10' },
      }),
      'packages/kit/README.md': 'x\n'.repeat(150),
    })
    const messages = found.map(text => text.replace(/^error packages\//, ''))
    assert.deepEqual(messages, [
      'kit/README.md has 150 lines, not under 150',
      'wire/package.json is called wire, not @coxswain/wire',
      'wire/package.json has no version',
      'wire/package.json has no description',
      'wire/package.json has the license MIT, not Apache-2.0',
      'wire/package.json is not of type module',
      'wire/package.json asks for node >=20, not >=24',
      'wire/package.json wants @coxswain/kit 0.2.0, which is 0.1.0',
      'wire/package.json does not pin pino: ^10',
      'wire/package.json exports ./deep from ./src/gone.ts: no such file',
    ])
  })

  it('catches a manifest without exports', async () => {
    const manifest = {
      name: '@coxswain/wire',
      version: '0.1.0',
      description: 'x',
      license: 'Apache-2.0',
      type: 'module',
    }
    const found = await findingsWith(packageMetadata, {
      'packages/wire/package.json': JSON.stringify({ ...manifest, engines: { node: '>=24' } }),
    })
    assert.deepEqual(found, ['error packages/wire/package.json has no exports map'])
  })

  it('catches a package without a README', async () => {
    const manifest = JSON.stringify({ name: '@coxswain/bare' })
    const found = await findingsWith(packageMetadata, { 'packages/bare/package.json': manifest })
    assert.ok(found.includes('error packages/bare/README.md is missing'))
  })
})

describe('focused-tests', () => {
  const violations = [
    'it.only("x", () => {})',
    'describe.skip("x", () => {})',
    'test.todo("x")',
    't.skip("no etcd")',
    'it("x", { skip: !hasEtcd }, () => {})',
    'it("x", { only: true }, async t => {})',
  ]
  for (const code of violations) {
    it(`catches ${code}`, async () => {
      const found = await findingsWith(focusedTests, { 'packages/kit/src/x.test.ts': code })
      assert.equal(found.length, 1, found.join())
    })
  }

  it('lets words and fields of that name pass', async () => {
    const text =
      '// it.only\nconst options = { skip: 3 }\nit("skip: x", () => list.skip(1))\nassert.equal(a.only, 1)\n'
    assert.deepEqual(await findingsWith(focusedTests, { 'packages/kit/src/x.test.ts': text }), [])
  })
})

describe('documented-exports', () => {
  it('catches an export without a comment, in the file that declares it', async () => {
    const found = await findingsWith(documentedExports, {
      'packages/kit/src/index.ts': "export { type Pause, wait as pause } from './wait.ts'\n",
      'packages/kit/src/wait.ts':
        "import 'pino'\nexport const wait: number = 1\n/** Has one. */\nexport interface Pause {}\n",
    })
    assert.deepEqual(found, ['error packages/kit/src/wait.ts:2 wait is exported and has no comment'])
  })
})

describe('exports-page', () => {
  const sources = {
    'packages/kit/src/index.ts': "export { type Pause, wait as pause } from './wait.ts'\n",
    'packages/kit/src/wait.ts':
      '/** Waits: `a|b`. Then\n * goes on. */\nexport function wait(): void {}\n/** A type. */\nexport interface Pause {}\n',
  }
  const page =
    '# What the packages export\n\nFunctions, classes and constants; types are in the declarations. Written by `npm run check -- exports-page --write` from the comments in the sources.\n\n## `@coxswain/wire`\n\n| name | what it is |\n| --- | --- |\n| `wired` | Wired. |\n\n## `@coxswain/kit`\n\n| name | what it is |\n| --- | --- |\n| `pause` | Waits: `a\\|b`. |\n'

  it('passes a page that lists values with the first sentence of their comments, and catches any other', async () => {
    assert.deepEqual(await findingsWith(exportsPage, { ...sources, 'docs/exports.md': page }), [])
    for (const stale of [page.replace('Waits', 'Sleeps'), undefined]) {
      const found = await findingsWith(exportsPage, {
        ...sources,
        ...(stale && { 'docs/exports.md': stale }),
      })
      assert.match(found[0]!, /docs\/exports.md:1 is not what the packages export/)
    }
  })
})
