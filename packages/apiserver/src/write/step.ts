/** One named step of a write. It returns a promise only when it has to wait. */
export interface Step<W> {
  readonly name: string
  readonly run: (write: W) => Promise<void> | void
}

/** Runs the steps in order; returns a promise once a step has to wait. An error of a step ends the write. */
export function runSteps<W>(steps: readonly Step<W>[], write: W): Promise<void> | void {
  for (let i = 0; i < steps.length; i++) {
    const pending = steps[i]!.run(write)
    if (pending) return finishSteps(steps, write, { pending, next: i + 1 })
  }
}

async function finishSteps<W>(
  steps: readonly Step<W>[],
  write: W,
  from: { readonly pending: Promise<void>; readonly next: number },
): Promise<void> {
  await from.pending
  for (let i = from.next; i < steps.length; i++) {
    const pending = steps[i]!.run(write)
    if (pending) await pending
  }
}
