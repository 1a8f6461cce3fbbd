/** Set for the processes that `--watch` and `dev` start. */
export const childVariable = 'COXSWAIN_CHILD'

/** Ends a process of `--watch` or `dev` that another one is about to replace. */
export const replaceSignal = 'SIGHUP'

/** Whether another process of this command has started this one. */
export function isChild(): boolean {
  return process.env[childVariable] !== undefined
}

/** From now on this process stops, cleanly, when the one that started it ends. Its own children are not marked. */
export function stopWithParent(): void {
  delete process.env[childVariable]
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
}

/** Program and arguments that run this command again: Node and its script, or the one file that is both. */
export function ownCommand(): readonly [program: string, ...args: string[]] {
  const [, script] = process.argv
  return script === undefined || script === process.execPath
    ? [process.execPath]
    : [process.execPath, ...process.execArgv, script]
}
