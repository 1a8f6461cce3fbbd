import { existsSync, readFileSync } from 'node:fs'
import { isObject } from '@coxswain/apimachinery/json'
import { generateChart } from '@coxswain/project/chart'
import { isProjectError } from '@coxswain/project/files'
import { type ChartChange, planChart } from '@coxswain/project/node'
import { CommandError } from '../exit.ts'
import { readProject } from '../manifests/project.ts'
import type { ChartOptions } from './options.ts'
import { readObjects } from './read-objects.ts'

/** Writes a chart, or says what would be written. */
export async function runChart({ out, from, name, chartVersion, check }: ChartOptions): Promise<void> {
  const about = readPackage()
  const objects = readObjects(from)
  try {
    const files = generateChart({
      name: name ?? readProject(process.cwd()).name,
      version: chartVersion ?? about.version ?? '0.1.0',
      ...(about.description !== undefined && { description: about.description }),
      objects,
    })
    const plan = planChart(out, files)
    if (check) return refuseStale(plan.changes, out)
    plan.write()
    for (const change of plan.changes) process.stderr.write(`${describeChange(out, change)}\n`)
    process.stderr.write(`${plan.changes.length} of ${files.length} files changed\n`)
  } catch (error) {
    if (!isProjectError(error)) throw error
    throw new CommandError(error.message, { cause: error })
  }
}

function describeChange(out: string, { path, state }: ChartChange): string {
  const file = `${out}/${path}`
  if (state === 'conflict')
    return `${file} has changes of yours: the new text is in ${file}.new; merge it, and delete that file`
  if (state === 'kept') return `${file} is no longer generated, and is kept because you changed it`
  return `${file} ${state}`
}

function refuseStale(changes: readonly ChartChange[], out: string): void {
  const stale = changes.filter(change => change.state !== 'kept')
  if (stale.length === 0) return
  const names = stale.map(change => `${out}/${change.path}`)
  throw new CommandError(
    `${names.length} files are missing or stale: ${names.slice(0, 10).join(', ')}; run coxswain chart`,
  )
}

interface About {
  readonly name?: string
  readonly version?: string
  readonly description?: string
}

function readPackage(): About {
  const read = existsSync('package.json') ? readObject('package.json', text => JSON.parse(text)) : {}
  const text = (key: string) =>
    typeof read[key] === 'string' && read[key] !== '' ? { [key]: read[key] } : {}
  return { ...text('name'), ...text('version'), ...text('description') }
}

function readObject(file: string, parse: (text: string) => unknown): Record<string, unknown> {
  let read: unknown
  try {
    read = parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new CommandError(
      `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    )
  }
  if (!isObject(read)) throw new CommandError(`${file} is not an object`)
  return read
}
