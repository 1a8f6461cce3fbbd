import { dirname } from 'node:path'
import { isStatusError } from '@coxswain/apimachinery/status'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { describeOperator } from '@coxswain/runtime'
import { type Preview, previewChange } from '@coxswain/simulator'
import { withCluster } from '../deploy/connect.ts'
import { readManifestFiles } from '../deploy/manifest-files.ts'
import { CommandError } from '../exit.ts'
import { loadConfig } from '../host/load-config.ts'
import { readCalls } from '../load-lock.ts'
import { chooseModules, loadModules } from '../load-modules.ts'
import { formatPlan, planToJson } from './format-plan.ts'
import { readCluster } from './read-cluster.ts'

/** Options of `coxswain plan`. */
export interface PlanCommandOptions {
  readonly filename?: readonly string[]
  readonly delete: boolean
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
  readonly for: string
  readonly json: boolean
  readonly config?: string
}

/** Prints the plan, and sets the exit code. */
export async function runPlan(files: readonly string[], options: PlanCommandOptions): Promise<void> {
  const config = await loadConfig(options.config)
  const chosen = chooseModules(files, config)
  const { operators } = await loadModules(chosen)
  if (operators.length === 0) throw new CommandError(`${chosen.join(', ')}: there is no operator`)
  const manifests = options.filename ? await readManifestFiles(options.filename, { recursive: false }) : []
  const read = await withCluster(
    options,
    async ({ client, env, namespace }) => ({
      ...(await readCluster(client, {
        definitions: operators.map(describeOperator),
        calls: readCalls(dirname(chosen[0]!)),
        manifests,
        namespace,
      })),
      now: env.clock.now(),
    }),
    'coxswain-plan/0.1',
  )
  for (const warning of read.warnings) process.stderr.write(`coxswain: ${warning}\n`)
  const { objects, definitions, now } = read
  const preview = await explained(() =>
    previewChange({
      operators,
      objects,
      definitions,
      now,
      horizon: durationToMilliseconds(parseDuration(options.for)),
      ...(options.filename && {
        change: { action: options.delete ? 'delete' : 'apply', manifests: read.manifests },
      }),
    }),
  )
  const hasChange = options.filename !== undefined
  process.stdout.write(
    options.json
      ? `${JSON.stringify(planToJson(preview, { hasChange }), undefined, 2)}\n`
      : formatPlan(preview, { hasChange, operators: operators.map(({ name }) => name) }),
  )
  const writes = hasChange ? preview.after : preview.before
  const isChanging = writes.length > 0 || preview.outside.some(({ method }) => !/^(GET|HEAD)$/.test(method))
  process.exitCode = isChanging ? 2 : 0
}

async function explained(make: () => Promise<Preview>): Promise<Preview> {
  try {
    return await make()
  } catch (error) {
    const rejection = error instanceof Error && isStatusError(error.cause) ? error.cause : error
    if (isStatusError(rejection))
      throw new CommandError(`the change would be rejected: ${(error as Error).message}`, { cause: error })
    throw error
  }
}
