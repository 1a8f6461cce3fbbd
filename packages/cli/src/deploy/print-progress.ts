import { type DeployProgress, formatName, type OnProgress } from '@coxswain/project/deploy'

/** Where progress is printed: standard output, or what a test collects. */
export interface ProgressOutput {
  write(text: string): unknown
  readonly isTTY?: boolean
}

const verbs: Readonly<Record<string, string>> = {
  applied: 'serverside-applied',
  established: 'condition met',
  pruned: 'pruned',
  deleted: 'deleted',
}

/** Erases the line that the cursor is in. */
const erase = '\r\u001b[K'

/**
 * Prints one line for each step, in kubectl's words. On a terminal the state of a rollout is one line that changes; elsewhere each state is a
 * line of its own.
 */
export function printProgress(output: ProgressOutput, suffix: string): OnProgress {
  let isOpen = false
  const line = (text: string) => {
    output.write(`${isOpen ? erase : ''}${text}\n`)
    isOpen = false
  }
  return progress => {
    if (progress.type !== 'waiting' || !output.isTTY) return line(describe(progress, suffix))
    output.write(`${erase}${progress.message}`)
    isOpen = true
  }
}

function describe(progress: DeployProgress, suffix: string): string {
  const name = formatName(progress.object)
  switch (progress.type) {
    case 'waiting':
    case 'ready':
      return progress.message
    case 'kept':
      return `${name} kept: ${progress.message}`
    case 'unchecked':
      return `${name} not checked: ${progress.message}${suffix}`
    default:
      return `${name} ${verbs[progress.type]}${suffix}`
  }
}
