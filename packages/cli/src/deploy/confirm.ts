import { createInterface } from 'node:readline/promises'
import type { LostObjects } from '@coxswain/project/deploy'
import { CommandError } from '../exit.ts'

/** Asks before objects are lost; `yes` answers. Without a terminal that is a usage error. */
export async function confirmLoss(
  lost: readonly LostObjects[],
  { yes }: { readonly yes: boolean },
): Promise<void> {
  if (lost.length === 0 || yes) return
  const what = lost.map(({ resource, count }) => `${count} ${resource}`).join(', ')
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new CommandError(`${what} would be deleted; pass --yes to delete them`, { exitCode: 2 })
  const readline = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await readline.question(`${what} will be deleted. Continue? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was deleted')
  } finally {
    readline.close()
  }
}
