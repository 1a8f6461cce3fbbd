import {
  type CoverageFact,
  mediaTypes,
  patchTypes,
  type ResourceFact,
  type ScenarioFact,
  verbs,
} from './fact.ts'

/** `patch` is one column for each patch type. */
const columns: readonly string[] = verbs.flatMap(verb =>
  verb === 'patch' ? patchTypes.map(type => `patch ${type}`) : [verb],
)

const shown = ['create', 'get', 'list', 'watch', 'update', ...patchTypes, 'delete', 'delete all', 'protobuf']

interface ResourceRow {
  /** Columns. */
  offered: ReadonlySet<string> | undefined
  /** Column to the media types that were proved. */
  readonly proved: Map<string, Set<string>>
}

export function parseFacts(lines: string): CoverageFact[] {
  return lines
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as CoverageFact)
}

/** The text of `docs/coverage.md`. The same facts give the same text, in whatever order and however often they came. */
export function renderCoverage(facts: readonly CoverageFact[]): string {
  const rows = collect(facts.filter(fact => 'resource' in fact))
  const head = [
    '# What is served',
    '',
    'Generated from passing tests by `npm run coverage`; `npm test` fails when it is out of date.',
    '',
    'A cell names the encodings in which the verb was proved. An empty cell is an open point: the resource offers the',
    'verb and no test proves it. A dash: not offered, as discovery says. The last column has the verbs that were answered in protobuf;',
    'a dash there: none (custom resources have no protobuf, here as upstream). A stream is what a node or a program behind the server says, passed on as it is.',
    '',
  ]
  if (rows.size === 0) return [...head, 'No test has recorded a fact yet.', ''].join('\n')
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const body = [...rows]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, row]) => line([`\`${name}\``, ...cellsOf(row)]))
  return [
    ...head,
    line(['resource', ...shown]),
    line(['resource', ...shown].map(() => '---')),
    ...body,
    '',
    ...renderScenarios(facts.filter(fact => 'scenario' in fact)),
  ].join('\n')
}

/** A list for each controller and plug-in. */
function renderScenarios(facts: readonly ScenarioFact[]): string[] {
  const lists = new Map<string, Set<string>>()
  for (const { of, scenario } of facts) lists.getOrInsertComputed(of, () => new Set()).add(scenario)
  if (lists.size === 0) return []
  const sorted = [...lists].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const count = sorted.reduce((sum, [, names]) => sum + names.size, 0)
  return [
    '# What the control loops go through',
    '',
    `${count} scenarios of the controllers, the scheduler's plug-ins and the kubelet. Each is played on a virtual clock undisturbed, with`,
    'conflicts and stale caches, and with the process killed between its writes (`npm run torture` tries every write): the end is',
    'the same, and stays.',
    '',
    ...sorted.flatMap(([of, names]) => [
      `## ${of} (${names.size})`,
      '',
      ...[...names].toSorted().map(name => `- ${name}`),
      '',
    ]),
  ]
}

function collect(facts: readonly ResourceFact[]): Map<string, ResourceRow> {
  const rows = new Map<string, ResourceRow>()
  for (const fact of facts) {
    const row = rows.getOrInsertComputed(fact.resource, () => ({ offered: undefined, proved: new Map() }))
    if ('offered' in fact) {
      const patches = (fact.patchTypes ?? patchTypes).map(type => `patch ${type}`)
      row.offered = new Set(fact.offered.flatMap(verb => (verb === 'patch' ? patches : [verb])))
      continue
    }
    if ((fact.verb === 'patch') !== (fact.patchType !== undefined)) {
      throw new Error(`a patch, and only a patch, has a patch type: ${JSON.stringify(fact)}`)
    }
    const column = fact.patchType ? `patch ${fact.patchType}` : fact.verb
    row.proved.getOrInsertComputed(column, () => new Set()).add(fact.mediaType ?? 'json')
  }
  return rows
}

function cellsOf({ offered, proved }: ResourceRow): string[] {
  const cells = columns.map(column => {
    const types = proved.get(column)
    if (types) return mediaTypes.filter(type => type !== 'protobuf' && types.has(type)).join(', ')
    return offered && !offered.has(column) ? '-' : ''
  })
  const inProtobuf = columns.filter(column => proved.get(column)?.has('protobuf'))
  return [...cells, inProtobuf.join(', ') || '-']
}
