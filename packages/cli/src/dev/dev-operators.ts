import { join } from 'node:path'
import type { InstalledKind } from '@coxswain/runtime'
import type { Command } from 'commander'
import { devSettings, propertyOf, runSettings } from '../host/settings.ts'
import { tellInstalled } from '../operators.ts'
import { runRun } from '../run/run.ts'
import { waitForTurn } from '../run/watch-child.ts'

/** Runs the operators, once, when it is the turn of this process. */
export async function runDevOperators(files: readonly string[], command: Command): Promise<void> {
  fixSettings(command)
  const turn = await waitForTurn()
  const installed: string[] = []
  await runRun(files, command, {
    onReady: () => turn.onReady(installed),
    succession: turn.succession,
    onInstalled: (kind: InstalledKind) => {
      installed.push(kind.name)
      if (kind.change !== 'unchanged') tellInstalled(kind)
    },
  })
}

/** What neither an environment variable nor the configuration file changes: which cluster, and that there is one replica. */
function fixSettings(command: Command): void {
  const fix = (property: string, value: unknown) => command.setOptionValueWithSource(property, value, 'cli')
  const own = new Set(devSettings.map(({ flag }) => flag))
  for (const each of runSettings) if (!own.has(each.flag)) fix(propertyOf(each), each.default)
  fix('kubeconfig', join(command.getOptionValue('dataDir') as string, 'kubeconfig'))
  fix('install', true)
}
