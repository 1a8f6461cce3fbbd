import {
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Secret,
  ServiceAccount,
} from '@coxswain/api/core/v1'
import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { Clock } from '@coxswain/kit'
import type { OperatorClient } from '@coxswain/runtime'
import type { VolumeSources } from './volumes.ts'

/** The default lifetime of tokens. */
const tokenSeconds = 3607
/** A token is renewed after this part of its lifetime. */
const renewPart = 0.8
/** How long an object is cached: Pods that start together read it once. A missing one may be created at any moment. */
const keepTime = 5_000
const keepMissTime = 500
/** Expired entries are removed when the cache reaches this size. */
const manyAnswers = 1_000

export interface SharedSourcesOptions {
  readonly makesTokens: boolean
  /** The node's capacity. */
  readonly capacity: Readonly<Record<string, string>>
}

/** Looks up objects for all Pods of the kubelet: each at most once in a few seconds. */
export class SharedSources {
  readonly #direct: OperatorClient['direct']
  readonly #clock: Clock
  readonly #options: SharedSourcesOptions
  readonly #answers = new Map<string, { readonly value: Promise<unknown>; until: number }>()
  /** By Pod, then by audience and lifetime: a token, and when to renew it. */
  readonly #tokens = new Map<string, Map<string, { readonly token: string; readonly renewAt: number }>>()

  constructor(client: OperatorClient, clock: Clock, options: SharedSourcesOptions) {
    this.#direct = client.direct
    this.#clock = clock
    this.#options = options
  }

  forPod(pod: PodView): VolumeSources {
    const { namespace = '' } = pod.metadata
    const { makesTokens, capacity } = this.#options
    return {
      capacity,
      configMap: async name => await this.#read(ConfigMap, { namespace, name }),
      secret: async name => await this.#read(Secret, { namespace, name }),
      claim: async name => await this.#read(PersistentVolumeClaim, { namespace, name }),
      volume: async name => await this.#read(PersistentVolume, { name }),
      token: async (audience, expirationSeconds) =>
        makesTokens ? await this.#token(pod, audience, expirationSeconds) : '',
    }
  }

  forget(uid: string): void {
    this.#tokens.delete(uid)
  }

  #read<K extends Kind>(kind: K, key: ObjectKey): Promise<KindOf<K> | undefined> {
    const id = `${kind.kind}/${key.namespace ?? ''}/${key.name}`
    const now = this.#clock.monotonic()
    const known = this.#answers.get(id)
    if (known && now < known.until) return known.value as Promise<KindOf<K> | undefined>
    if (this.#answers.size > manyAnswers)
      for (const [old, { until }] of this.#answers) if (until <= now) this.#answers.delete(old)
    const value = this.#direct.get(kind, key)
    const answer = { value, until: Number.POSITIVE_INFINITY }
    this.#answers.set(id, answer)
    const keep = (time: number) => {
      answer.until = this.#clock.monotonic() + time
    }
    value.then(
      found => keep(found ? keepTime : keepMissTime),
      () => keep(0),
    )
    return value
  }

  async #token(
    { metadata, spec }: PodView,
    audience: string | undefined,
    expirationSeconds = tokenSeconds,
  ): Promise<string> {
    const { namespace = '', name, uid } = metadata
    const of = `${audience ?? ''} ${expirationSeconds}`
    const known = this.#tokens.get(uid)?.get(of)
    if (known && this.#clock.now() < known.renewAt) return known.token
    const account = { namespace, name: spec.serviceAccountName || 'default' }
    const { status } = await this.#direct
      .subresource(ServiceAccount, account, 'token')
      .create<{ status?: { token?: string } }>({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          audiences: audience ? [audience] : [],
          expirationSeconds,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      })
    const token = status?.token ?? ''
    const own = this.#tokens.get(uid) ?? new Map()
    const renewAt = this.#clock.now() + expirationSeconds * renewPart * 1000
    this.#tokens.set(uid, own.set(of, { token, renewAt }))
    return token
  }
}
