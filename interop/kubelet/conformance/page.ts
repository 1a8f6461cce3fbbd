import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Results, TestResult, Verdict } from './results.ts'

export const pageFile: string = fileURLToPath(new URL('../../../docs/conformance.md', import.meta.url))

const verdicts: readonly Verdict[] = ['passed', 'failed', 'not run']

/** Why a test does not pass, where that is known: by a part of its name. */
export const explanations: Readonly<Record<string, string>> = {
  'Aggregator Should be able to support the 1.17 Sample API Server':
    'APIServices that lead to other servers are not served yet, and the images of this test are not made either',
}

export function writePage(results: Results): void {
  writeFileSync(pageFile, renderPage(results))
}

/** The page: a table by class, what did not pass with its failure, and every test. */
export function renderPage({ kubernetes, tests }: Results): string {
  const classes = Map.groupBy(tests, ({ name }) => classOf(name))
  const names = [...classes.keys()].toSorted()
  const lines = [
    '# Conformance',
    '',
    `The ${tests.length} conformance tests of Kubernetes ${kubernetes}, run with upstream's \`e2e.test\` against \`coxswain up\` and two real`,
    'kubelets on this machine. This page is written by the run; every result is that of the last time the test ran, with its date.',
    '',
    '```sh no-test builds real components, and takes an hour or more',
    'npm run conformance',
    'npm run conformance -- --verdict failed',
    "npm run conformance -- --focus 'sig-apps.*StatefulSet' --logs /tmp/conformance",
    '```',
    '',
    `Versions: kubelet, kubeadm, kube-proxy (nftables), kubectl, e2e.test and agnhost ${kubernetes}; containerd 2.2.1; CoreDNS 1.14.0; runc, CNI`,
    'plug-ins, nft and iptables of Debian 12. How the cluster is made is described in [interop/kubelet](../interop/kubelet/README.md). The images',
    "are made on this machine: agnhost, kitten, nautilus, nonewprivs and pause from upstream's sources; `busybox` is Debian's, with bash as its shell, and so",
    'are `nonroot` and the web server that stands in for `nginx`; `etc/os-release` says that the images stand in for Alpine Linux.',
    '',
    '## Result',
    '',
    '| class | tests | passed | failed | not run |',
    '|---|--:|--:|--:|--:|',
    ...names.map(name => row(name, classes.get(name)!)),
    row('**all**', tests),
    '',
    `Tests that ran, by date: ${datesOf(tests)}.`,
    '',
    ...listOf('## Failed', tests, 'failed'),
    ...listOf('## Not run', tests, 'not run'),
    '## Every test',
    '',
  ]
  for (const name of names) {
    lines.push(`### ${name}`, '', '| test | result | seconds |', '|---|---|--:|')
    for (const test of classes.get(name)!)
      lines.push(`| ${textOf(test)} | ${test.verdict} | ${test.seconds ?? ''} |`)
    lines.push('')
  }
  return `${lines.join('\n').trimEnd()}\n`
}

/** The special interest group that owns a test. */
const classOf = (name: string) => /^\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? 'other'
const textOf = ({ name }: TestResult) =>
  name
    .replace(/^\[sig-[a-z-]+\] /, '')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')

function row(name: string, tests: readonly TestResult[]): string {
  const counts = verdicts.map(each => tests.filter(({ verdict }) => verdict === each).length)
  return `| ${[name, tests.length, ...counts].join(' | ')} |`
}

function listOf(heading: string, tests: readonly TestResult[], verdict: Verdict): string[] {
  const chosen = tests.filter(test => test.verdict === verdict)
  if (chosen.length === 0) return []
  const lines = chosen.map(test => {
    const reason = Object.entries(explanations).find(([part]) => test.name.includes(part))?.[1]
    return `- ${test.name.replaceAll('<', '&lt;')}${reason ? ` (${reason})` : ''}${test.failure ? `: \`${test.failure.replaceAll('`', "'")}\`` : ''}`
  })
  return [heading, '', ...lines, '']
}

function datesOf(tests: readonly TestResult[]): string {
  const dates = Map.groupBy(
    tests.filter(({ date }) => date !== undefined),
    ({ date }) => date!,
  )
  return [...dates]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([date, of]) => `${date} ${of.length}`)
    .join(', ')
}
