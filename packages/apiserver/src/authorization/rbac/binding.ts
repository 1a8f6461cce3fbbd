import type { StoredObject } from '../../cache/stored-object.ts'
import type { UserInfo } from '../../request/context.ts'
import type { Decision } from '../authorizer.ts'

export interface RoleRef {
  readonly kind: 'Role' | 'ClusterRole'
  readonly name: string
  /** The key of the stored role. */
  readonly key: string
}

/** A subject of a binding. */
export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  /** The name of the user or group; for a service account, its user name. */
  readonly id: string
  readonly description: string
}

interface StoredBinding {
  readonly roleRef?: { readonly kind?: string; readonly name?: string }
  readonly subjects?: readonly {
    readonly kind?: string
    readonly name?: string
    readonly namespace?: string
  }[]
}

const quote = (text: string): string => JSON.stringify(text)

/** A RoleBinding or ClusterRoleBinding, parsed once. */
export class Binding {
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  readonly role: RoleRef
  readonly subjects: readonly Subject[]
  readonly #title: string
  /** By the index of the subject. */
  readonly #decisions: (Decision | undefined)[] = []

  private constructor(title: string, namespace: string, role: RoleRef, subjects: readonly Subject[]) {
    this.#title = title
    this.namespace = namespace
    this.role = role
    this.subjects = subjects
  }

  /** Undefined for a reference that can never resolve. */
  static read(object: StoredObject): Binding | undefined {
    const { namespace, name } = object
    const { roleRef = {}, subjects } = object.parse() as StoredBinding
    const { kind } = roleRef
    if (kind !== 'ClusterRole' && kind !== 'Role') return undefined
    const role = roleRefOf(kind, roleRef.name ?? '', namespace)
    const title =
      namespace === ''
        ? `ClusterRoleBinding ${quote(name)} of ${kind} ${quote(role.name)}`
        : `RoleBinding ${quote(`${name}/${namespace}`)} of ${kind} ${quote(role.name)}`
    return new Binding(title, namespace, role, readSubjects(subjects ?? [], namespace))
  }

  /** The reason text of a binding that allows a request; `subject` is one that matches the user, not always the first. */
  decisionFor(user: UserInfo, subject: number): Decision {
    let first = 0
    while (first < subject && !standsFor(this.subjects[first]!, user)) first++
    const known = this.#decisions[first]
    if (known) return known
    const reason = `RBAC: allowed by ${this.#title} to ${this.subjects[first]!.description}`
    const decision: Decision = { verdict: 'allow', reason }
    this.#decisions[first] = decision
    return decision
  }
}

/** The role that a binding in `namespace` (empty for a ClusterRoleBinding) refers to. */
export function roleRefOf(kind: 'Role' | 'ClusterRole', name: string, namespace: string): RoleRef {
  const key =
    kind === 'Role'
      ? `/rbac.authorization.k8s.io/roles/${namespace}/${name}`
      : `/rbac.authorization.k8s.io/clusterroles/${name}`
  return { kind, name, key }
}

function standsFor({ kind, id }: Subject, user: UserInfo): boolean {
  return kind === 'Group' ? user.groups.includes(id) : user.name === id
}

function readSubjects(subjects: NonNullable<StoredBinding['subjects']>, bindingNamespace: string): Subject[] {
  const found: Subject[] = []
  for (const { kind, name = '', namespace = '' } of subjects) {
    if (kind === 'User' || kind === 'Group') {
      found.push({ kind, id: name, description: `${kind} ${quote(name)}` })
    } else if (kind === 'ServiceAccount') {
      const home = namespace || bindingNamespace
      const description = `ServiceAccount ${quote(`${name}/${home}`)}`
      if (home !== '') found.push({ kind, id: `system:serviceaccount:${home}:${name}`, description })
    }
  }
  return found
}
