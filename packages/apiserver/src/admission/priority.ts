import { childObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newForbidden } from '@coxswain/apimachinery/status'
import { systemPriorityClasses } from '@coxswain/strategies'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { forbidden } from './policies/policy-request.ts'
import type { AdmissionPorts } from './ports.ts'

interface PriorityClass {
  readonly metadata: { readonly name: string }
  readonly value: number
  readonly globalDefault?: boolean
  readonly preemptionPolicy?: string
}

const prefix = '/scheduling.k8s.io/priorityclasses/'

/** Resolves a Pod's priority class to its number, and rejects a number set by the author. */
export const priority: AdmissionPlugin = {
  name: 'Priority',
  needs: 'priorityclasses.scheduling.k8s.io',
  mutate(attributes) {
    keepSystemClasses(attributes)
    if (!isPodWrite(attributes, 'CREATE', 'UPDATE') || !attributes.object) return
    const spec = childObject(attributes.object, 'spec')
    if (attributes.operation === 'UPDATE') {
      const old = attributes.oldObject?.spec as JsonObject | undefined
      if (spec.priority === undefined && old?.priority !== undefined) spec.priority = old.priority
      if (spec.preemptionPolicy === undefined && old?.preemptionPolicy !== undefined) {
        spec.preemptionPolicy = old.preemptionPolicy
      }
      return
    }
    const found = findClass(attributes, spec)
    const refuse = (detail: string) => forbidden(attributes, detail)
    const value = found?.value ?? 0
    const policy = found?.preemptionPolicy ?? 'PreemptLowerPriority'
    if (spec.priority !== undefined && spec.priority !== value) {
      throw refuse(
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      )
    }
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
      throw refuse(
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      )
    }
    if (found && !spec.priorityClassName) spec.priorityClassName = found.metadata.name
    spec.priority = value
    spec.preemptionPolicy = policy
  },
  validate: keepOneDefault,
}

const isClass = ({ resource }: Attributes): boolean =>
  resource.info.group === 'scheduling.k8s.io' && resource.info.resource === 'priorityclasses'

function keepSystemClasses(attributes: Attributes): void {
  const { operation, resource, name } = attributes
  if (operation !== 'DELETE' || !isClass(attributes)) return
  if (systemPriorityClasses.some(known => known.name === name))
    throw newForbidden(resource.info, name, 'this is a system priority class and cannot be deleted')
}

/** With a second default class it would be undefined which one applies. */
function keepOneDefault(attributes: Attributes): void {
  const { operation, resource, name, object, server } = attributes
  if (!object?.globalDefault || !isClass(attributes)) return
  const other = defaultClasses(server).find(
    ({ metadata }) => operation === 'CREATE' || metadata.name !== name,
  )
  if (!other) return
  const detail = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`
  throw newForbidden(resource.info, name, detail)
}

function findClass(attributes: Attributes, spec: JsonObject): PriorityClass | undefined {
  const { server } = attributes
  const classes = server.cache.resource(prefix)
  const name = spec.priorityClassName as string | undefined
  if (name) {
    const found = classes.get(prefix + name)
    if (found) return found.peek() as unknown as PriorityClass
    throw forbidden(attributes, `no PriorityClass with name ${name} was found`)
  }
  return defaultClasses(server)[0]
}

/** The default classes, for Pods that name none; the lowest first. */
function defaultClasses(server: AdmissionPorts): PriorityClass[] {
  return server.cache
    .resource(prefix)
    .list()
    .map(stored => stored.peek() as unknown as PriorityClass)
    .filter(({ globalDefault }) => globalDefault)
    .sort((a, b) => a.value - b.value)
}
