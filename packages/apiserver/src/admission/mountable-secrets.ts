import { isObject, type JsonObject } from '@coxswain/apimachinery/json'

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'
const yes = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})
const namesOf = (references: unknown): Set<unknown> => new Set(list(references).map(({ name }) => name))

/** Whether Pods of the account may use only the Secrets that it lists. */
function isEnforced(account: JsonObject): boolean {
  const annotations = objectOf(objectOf(account.metadata).annotations)
  return yes.has(String(annotations[enforceAnnotation] ?? ''))
}

/** Why a new Pod may not run as `account`: it uses a Secret that the account does not list. The text is upstream's. */
export function findForeignSecret(account: JsonObject, spec: JsonObject): string | undefined {
  if (!isEnforced(account)) return undefined
  const mountable = namesOf(account.secrets)
  const who = `is not allowed because service account ${objectOf(account.metadata).name} does not reference that`
  for (const volume of list(spec.volumes)) {
    const name = objectOf(volume.secret).secretName
    if (volume.secret && !mountable.has(name)) return `volume with secret.secretName="${name}" ${who} secret`
  }
  const inContainers =
    findInContainers(list(spec.initContainers), 'init container', mountable, who) ??
    findInContainers(list(spec.containers), 'container', mountable, who)
  if (inContainers) return inContainers
  const pullable = namesOf(account.imagePullSecrets)
  for (const [index, { name }] of list(spec.imagePullSecrets).entries())
    if (!pullable.has(name)) return `imagePullSecrets[${index}].name="${name}" ${who} imagePullSecret`
  return undefined
}

/** The same check for ephemeral containers added to a Pod. */
export function findForeignEphemeralSecret(account: JsonObject, spec: JsonObject): string | undefined {
  if (!isEnforced(account)) return undefined
  const who = `is not allowed because service account ${objectOf(account.metadata).name} does not reference that`
  return findInContainers(
    list(spec.ephemeralContainers),
    'ephemeral container',
    namesOf(account.secrets),
    who,
  )
}

function findInContainers(
  containers: readonly JsonObject[],
  what: string,
  mountable: ReadonlySet<unknown>,
  who: string,
): string | undefined {
  for (const container of containers) {
    for (const { name, valueFrom } of list(container.env)) {
      const reference = objectOf(valueFrom).secretKeyRef
      if (isObject(reference) && !mountable.has(reference.name))
        return `${what} ${container.name} with envVar ${name} referencing secret.secretName="${reference.name}" ${who} secret`
    }
    for (const { secretRef } of list(container.envFrom)) {
      if (isObject(secretRef) && !mountable.has(secretRef.name))
        return `${what} ${container.name} with envFrom referencing secret.secretName="${secretRef.name}" ${who} secret`
    }
  }
  return undefined
}
