import type { Span } from '@coxswain/kit'

/** What the steps of a write share, as far as running them needs it. */
export interface Traceable {
  /** `span` is set where traces are made. */
  readonly context: { readonly span?: Span }
}

/** One named step of a write. It returns a promise only when it has to wait. */
export interface Step<W> {
  readonly name: string
  readonly run: (write: W) => Promise<void> | void
}

/** Runs the steps in order; returns a promise once a step has to wait. An error of a step ends the write. */
export function runSteps<W extends Traceable>(steps: readonly Step<W>[], write: W): Promise<void> | void {
  const { span } = write.context
  if (span?.isRecording) return traceSteps(steps, write, span)
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

/** Each step is an event of the span, when it is done. */
async function traceSteps<W>(steps: readonly Step<W>[], write: W, span: Span): Promise<void> {
  for (const { name, run } of steps) {
    await run(write)
    span.addEvent(name)
  }
}
