import type { Client } from '@coxswain/client'
import type { ConfigurationReference, ServingWebhooks } from '@coxswain/runtime'
import { removeConfigurations } from '@coxswain/runtime'
import { replaceSignal } from './parent.ts'

export interface SuccessionOptions {
  /** The webhooks of the process that this one replaces. */
  readonly inherited?: ServingWebhooks
  /** Called with those of this process, for the next one. */
  readonly onServing: (serving: ServingWebhooks) => void
}

/**
 * Passes webhooks from one process with operators to the next: it serves at the same address with the same certificates, so the
 * configurations are neither removed nor written again.
 */
export class WebhookSuccession {
  readonly inherited: ServingWebhooks | undefined
  readonly #onServing: (serving: ServingWebhooks) => void
  #serving: ServingWebhooks | undefined
  #isReplaced = false

  constructor({ inherited, onServing }: SuccessionOptions) {
    this.inherited = inherited
    this.#onServing = onServing
  }

  /** The port of the previous process. */
  get port(): number | undefined {
    const address = this.inherited?.address
    return address && 'url' in address ? Number(new URL(address.url).port) : undefined
  }

  /** Whether this process ends without a successor. */
  readonly isLast = (): boolean => !this.#isReplaced

  readonly serves = (serving: ServingWebhooks): void => {
    this.#serving = serving
    this.#onServing(serving)
  }

  /** From now on the signal stops the operators cleanly, and leaves their configurations. */
  listen(): Disposable {
    const onReplace = (): void => {
      this.#isReplaced = true
      process.kill(process.pid, 'SIGTERM')
    }
    process.once(replaceSignal, onReplace)
    return { [Symbol.dispose]: () => process.off(replaceSignal, onReplace) }
  }

  /** Removes the inherited configurations that this process does not serve. */
  async removeLeft(client: Client): Promise<void> {
    const { address, configurations = [] } = this.inherited ?? {}
    const idOf = ({ kind, name }: ConfigurationReference) => `${kind}/${name}`
    const own = new Set(this.#serving?.configurations.map(idOf))
    const left = configurations.filter(each => !own.has(idOf(each)))
    if (address && 'url' in address) await removeConfigurations(client, left, address)
  }

  /** Whether configurations were inherited, no successor takes them over, and this process has not. */
  get hasLeft(): boolean {
    return this.inherited !== undefined && !this.#serving && !this.#isReplaced
  }
}
