import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { ownFile } from '@coxswain/kit/node'
import type { ServingWebhooks } from '@coxswain/runtime'
import { stopWithParent } from '../parent.ts'
import { WebhookSuccession } from '../webhook-succession.ts'
import { stateOf } from './file-state.ts'

/** What a process with operators reports to the one that watches: a file that it loads, or that its caches are filled. */
export type Report =
  | { readonly loaded: string; readonly state: string }
  /** With the names of the definitions that it has installed. */
  | { readonly ready: true; readonly installed: readonly string[] }
  | { readonly serving: ServingWebhooks }

/** What the process that watches sends when it is the turn of this one. */
export interface Go {
  /** Of the process that this one replaces. */
  readonly inherited?: ServingWebhooks
}

export function isReport(message: unknown): message is Report {
  return (
    typeof message === 'object' &&
    message !== null &&
    ['loaded', 'ready', 'serving'].some(name => name in message)
  )
}

export interface Turn {
  /** To be called when the caches are filled. */
  readonly onReady: (installed?: readonly string[]) => void
  readonly succession: WebhookSuccession
}

/** Loads what Node strips types with, 50 ms of processor time that a restart would otherwise take longer. */
export function loadTypeScript(): void {
  const { emitWarning } = process
  process.emitWarning = () => {} // it is experimental for those who use its result
  try {
    stripTypeScriptTypes('')
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Resolves when the process that watches says so; from then on the files that are loaded are reported to it. */
export async function waitForTurn(): Promise<Turn> {
  const report = (message: Report): void => void process.send?.(message, () => {})
  const turn = new Promise<Go>(resolve => process.once('message', message => resolve(message as Go)))
  stopWithParent()
  process.channel?.ref()
  loadTypeScript()
  const { inherited } = await turn
  process.channel?.unref() // it ends when its operators have
  const reportFile = (url: string): void => {
    const file = ownFile(url)
    if (file !== undefined) report({ loaded: file, state: stateOf(file) })
  }
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context)
      } catch (error) {
        // Once the file exists it is worth another try.
        if (/^(\.{1,2}\/|file:)/.test(specifier) && context.parentURL !== undefined)
          reportFile(new URL(specifier, context.parentURL).href)
        throw error
      }
    },
    load(url, context, nextLoad) {
      reportFile(url)
      return nextLoad(url, context)
    },
  })
  return {
    onReady: (installed = []) => report({ ready: true, installed }),
    succession: new WebhookSuccession({
      onServing: serving => report({ serving }),
      ...(inherited && { inherited }),
    }),
  }
}
