import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import {
  automanagedLabel,
  bootstrapApiServices,
  customApiService,
  objectOf,
  textOf,
} from '@coxswain/strategies'
import { readCrd, versionsOf } from '@coxswain/strategies/apiextensions'
import { CachedView } from '../cache/cached-view.ts'
import { ControlLoop } from '../cache/control-loop.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import { nameOf } from '../registry/convert.ts'
import type { Registry } from '../registry/registry.ts'
import { createMissing } from '../write/create-missing.ts'
import { deleteObject } from '../write/delete.ts'
import type { DeletePorts } from '../write/deletion.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { pipelines } from '../write/pipeline.ts'
import { apiServicesPrefix } from './api-services.ts'

export interface RegistrationPorts extends DeletePorts {
  readonly registry: Registry
}

const crdsPrefix = '/apiextensions.k8s.io/customresourcedefinitions/'
const groupName = 'apiregistration.k8s.io'

/** The user that deletes APIServices of groups that are no longer served. */
const self = { name: 'system:apiserver', groups: ['system:masters'] }

/** The group of a CRD and its served versions. */
interface Offer {
  readonly group: string
  readonly versions: readonly string[]
}

/**
 * Keeps an APIService for every group and version that this server has itself: those of built-in groups are created, repaired and
 * deleted at its start, those of custom resources at all times. APIServices without the label are left alone.
 */
export class Registration {
  readonly #ports: RegistrationPorts
  readonly #loop: ControlLoop
  readonly #offers = new WeakMap<StoredObject, Offer>()
  /** Groups and versions of custom resources, by the name of their APIService. */
  readonly #custom: CachedView<ReadonlyMap<string, Offer>>

  constructor(ports: RegistrationPorts) {
    this.#ports = ports
    this.#custom = new CachedView(ports, [crdsPrefix], () => this.#readCrds())
    this.#loop = new ControlLoop(ports, {
      name: 'apiservice-registration',
      prefixes: [apiServicesPrefix, crdsPrefix],
      keysOf: ({ object }) =>
        object.key.startsWith(apiServicesPrefix) ? [object.name] : this.#namesOf(this.#offerOf(object)),
      initialKeys: () => [...this.#custom.value.keys(), ...this.#stored().map(({ name }) => name)],
      reconcile: name => this.#reconcile(name),
    })
  }

  /** Reconciles the APIServices of built-in groups: once, at the start of the server. */
  async registerBuiltins(): Promise<void> {
    const { registry, env } = this.#ports
    const desired = new Map(
      bootstrapApiServices(env.clock.now())
        .filter(({ spec }) =>
          registry.hasGroupVersion(textOf(objectOf(spec).group), textOf(objectOf(spec).version)),
        )
        .map(object => [nameOf(object).name, object]),
    )
    const work = this.#stored().map(async stored => {
      if (stored.labels[automanagedLabel] !== 'onstart') return
      const object = desired.get(stored.name)
      if (object) await this.#repair(stored, object)
      else await this.#delete(stored)
    })
    await Promise.all([...work, ...[...desired.values()].map(object => this.#create(object))])
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal)
  }

  async #reconcile(name: string): Promise<void> {
    const stored = this.#ports.cache.resource(apiServicesPrefix).get(apiServicesPrefix + name)
    const offer = this.#custom.value.get(name)
    const desired = offer && customApiService(offer.group, versionOf(name), this.#ports.env.clock.now())
    if (!stored) {
      if (desired) await this.#create(desired)
      return
    }
    if (stored.labels[automanagedLabel] !== 'true') return
    if (desired) await this.#repair(stored, desired)
    else await this.#delete(stored)
  }

  async #create(object: JsonObject): Promise<void> {
    await createMissing(this.#ports, apiServicesPrefix, nameOf(object).name, metadata => ({
      ...object,
      metadata: { ...metadata, ...(object.metadata as JsonObject) },
    }))
  }

  async #repair(stored: StoredObject, { spec }: JsonObject): Promise<void> {
    if (deepEqual(objectOf(stored.parse().spec), spec)) return
    await guaranteedUpdate(this.#ports, {
      endpoint: this.#endpoint(),
      namespace: '',
      name: stored.name,
      dryRun: false,
      conditional: () => false,
      change: async live => ({ type: 'put', object: { ...live, spec } as JsonObject }),
    }).catch(ignoreChanged)
  }

  async #delete(stored: StoredObject): Promise<void> {
    const uid = textOf(objectOf(stored.parse().metadata).uid)
    const request = {
      endpoint: this.#endpoint(),
      namespace: '',
      name: stored.name,
      context: { user: self },
      options: {
        dryRun: false,
        gracePeriodSeconds: undefined,
        propagationPolicy: undefined,
        preconditions: { uid },
      },
    }
    await deleteObject(this.#ports, request, pipelines.deleteAdmitted).catch(ignoreChanged)
  }

  #endpoint() {
    return this.#ports.registry.find(groupName, 'v1', 'apiservices')!
  }

  #stored(): readonly StoredObject[] {
    return this.#ports.cache.resource(apiServicesPrefix).list()
  }

  #readCrds(): ReadonlyMap<string, Offer> {
    const offers = new Map<string, Offer>()
    for (const crd of this.#ports.cache.resource(crdsPrefix).list()) {
      const offer = this.#offerOf(crd)
      for (const version of offer.versions) offers.set(`${version}.${offer.group}`, offer)
    }
    return offers
  }

  #offerOf(crd: StoredObject): Offer {
    let offer = this.#offers.get(crd)
    if (!offer) {
      const { spec } = readCrd(crd.parse())
      const versions = versionsOf(spec).flatMap(({ name, served }) => (served && name ? [name] : []))
      offer = { group: spec.group ?? '', versions }
      this.#offers.set(crd, offer)
    }
    return offer
  }

  /** Of the group, also those that the CRD does not have any more. */
  #namesOf({ group, versions }: Offer): string[] {
    const present = this.#stored()
      .filter(({ name }) => name.endsWith(`.${group}`))
      .map(({ name }) => name)
    return [...new Set([...versions.map(version => `${version}.${group}`), ...present])]
  }
}

function versionOf(name: string): string {
  return name.slice(0, name.indexOf('.'))
}

/** Changed or deleted in the meantime: that is an event of its own. */
function ignoreChanged(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error
}
