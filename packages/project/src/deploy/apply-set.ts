import { ConfigMap } from '@coxswain/api/core/v1'
import { encodeBase64Url, encodeText, sha256 } from '@coxswain/kit'
import { ProjectError } from '../errors.ts'
import { formatGroupKind, type Manifest, type ObjectName } from './object-name.ts'
import { callOptions, type DeployTarget } from './target.ts'

/**
 * An ApplySet as kubectl defines it: a parent ConfigMap that names kinds and namespaces, and a label on each member. It is how a later
 * deployment finds what an earlier one applied.
 */
export interface ApplySet {
  readonly namespace: string
  readonly name: string
  readonly id: string
}

/** What the parent says. */
export interface ApplySetContent {
  /** `Deployment.apps`. */
  readonly groupKinds: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
}

const idLabel = 'applyset.kubernetes.io/id'
const partOfLabel = 'applyset.kubernetes.io/part-of'
const toolingAnnotation = 'applyset.kubernetes.io/tooling'
const kindsAnnotation = 'applyset.kubernetes.io/contains-group-kinds'
const namespacesAnnotation = 'applyset.kubernetes.io/additional-namespaces'
const tooling = 'coxswain'

/** The ApplySet of a project, with its parent in the given namespace. */
export function applySetOf(project: string, namespace: string): ApplySet {
  const name = `${project}-applyset`
  const hash = encodeBase64Url(sha256(encodeText(`${name}.${namespace}.ConfigMap.`)))
  return { namespace, name, id: `applyset-${hash}-v1` }
}

/** The label that every member has. */
export function memberLabels({ id }: ApplySet): Record<string, string> {
  return { [partOfLabel]: id }
}

/** What these objects add to an ApplySet. */
export function contentOf(objects: readonly ObjectName[]): ApplySetContent {
  return {
    groupKinds: new Set(objects.map(formatGroupKind)),
    namespaces: new Set(objects.flatMap(({ namespace }) => namespace ?? [])),
  }
}

export function uniteContents(a: ApplySetContent, b: ApplySetContent): ApplySetContent {
  return {
    groupKinds: new Set([...a.groupKinds, ...b.groupKinds]),
    namespaces: new Set([...a.namespaces, ...b.namespaces]),
  }
}

/** The parent's manifest. */
export function parentOf({ namespace, name, id }: ApplySet, content: ApplySetContent): Manifest {
  const additional = [...content.namespaces].filter(each => each !== namespace)
  const annotations = {
    [toolingAnnotation]: `${tooling}/v1`,
    [kindsAnnotation]: [...content.groupKinds].sort().join(','),
    [namespacesAnnotation]: additional.sort().join(','),
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { [idLabel]: id }, annotations },
  } as Manifest
}

/** What the parent in the cluster says; undefined when there is none. Throws `ForeignApplySet` for one of another tool. */
export async function readApplySet(
  target: DeployTarget,
  { namespace, name, id }: ApplySet,
): Promise<ApplySetContent | undefined> {
  const parent = await target.client.get(ConfigMap, { namespace, name }, callOptions(target))
  if (!parent) return undefined
  const { labels = {}, annotations = {} } = parent.metadata
  const tool = annotations[toolingAnnotation] ?? ''
  if (labels[idLabel] !== id || tool.split('/')[0] !== tooling) {
    const what = tool === '' ? 'is not an ApplySet' : `is an ApplySet of ${tool}`
    throw new ProjectError(
      'ForeignApplySet',
      `configmap ${namespace}/${name} ${what}: delete or rename it, since coxswain records there what it applied`,
    )
  }
  const split = (text = '') => text.split(',').filter(part => part !== '')
  return {
    groupKinds: new Set(split(annotations[kindsAnnotation])),
    namespaces: new Set([namespace, ...split(annotations[namespacesAnnotation])]),
  }
}

/** The label selector of the members. */
export function memberSelector({ id }: ApplySet): string {
  return `${partOfLabel}=${id}`
}
