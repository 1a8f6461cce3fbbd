import { type AuthorizerFactory, allow, deny, noOpinion } from '@coxswain/apiserver'
import { decodeText, encodeText } from '@coxswain/kit'
import {
  coversCall,
  describeCall,
  describeOperator,
  type Operator,
  type RecordedCall,
} from '@coxswain/runtime'
import { isStream, joinChunks, type Transport, type WireResponse } from '@coxswain/wire'
import { authorLine, captureStack, type SourceLine } from '../internal/author-frame.ts'
import { Recorder, type Recording } from './recording.ts'

/** The project that a test belongs to, as far as rights go. */
export interface ProjectRights {
  /** The folder of its package.json. */
  readonly root: string
  /** The rights of `rbac.lock.json`; undefined where there is none, or where rights are being recorded. */
  readonly locked: readonly RecordedCall[] | undefined
  readonly records: boolean
}

interface OperatorRights {
  readonly project: ProjectRights
  readonly recorder: Recorder | undefined
  /** Whether the host of the operator makes the request, and not the operator itself. */
  readonly isOfHost: (call: Pick<RecordedCall, 'group' | 'resource' | 'namespace'>) => boolean
  /** Whether this class decides, and not RBAC alone. */
  readonly decides: boolean
}

/** An operator that is started. */
export interface AddOptions {
  readonly project: ProjectRights
  readonly operator: Operator
  /** Whether its rights are those of the project, and not what RBAC grants its user. */
  readonly decides: boolean
  /** Where it keeps its lease, if it elects a leader. */
  readonly electionNamespace: string | undefined
}

const refusal = 'rbac.lock.json does not grant it'

/** What the operators of a cluster may do, and what they do. */
export class ClusterRights {
  readonly #byUser = new Map<string, OperatorRights>()
  readonly #recorders = new Map<string, Recorder>()
  readonly #missing = new Set<string>()

  /** Decides on the requests of operators that were added, and leaves others alone. */
  readonly authorizer: AuthorizerFactory = () => access => {
    const rights = this.#byUser.get(access.user.name)
    if (!rights) return noOpinion
    const { info } = access
    const unrestricted = rights.decides ? allow : noOpinion
    if (!info.isResource || info.resource === '') return unrestricted
    const { verb, group, resource, subresource, namespace, name } = info
    if (rights.isOfHost(info)) return unrestricted
    const call: RecordedCall = {
      verb,
      group,
      resource,
      ...(subresource !== '' && { subresource }),
      ...(namespace !== '' && { namespace }),
      ...(name !== '' && { name }),
    }
    rights.recorder?.addCall(call)
    const { locked } = rights.project
    if (!rights.decides || !locked || locked.some(right => coversCall(right, call))) return unrestricted
    return { ...deny, reason: `${refusal}: ${describeCall(call)}` }
  }

  /** The requests of this user are those of an operator of the project from now on. */
  add(user: string, options: AddOptions): void {
    const { project, decides } = options
    let recorder = this.#recorders.get(project.root)
    if (!recorder && project.records) {
      recorder = new Recorder(project.root)
      this.#recorders.set(project.root, recorder)
    }
    this.#byUser.set(user, { project, recorder, decides, isOfHost: hostCalls(options) })
  }

  /** A request that the lock file does not grant names the source line that sent it. */
  transport(inner: Transport, { root }: ProjectRights): Transport {
    return {
      send: async request => {
        const stack = captureStack()
        const response = await inner.send(request)
        return response.status === 403 ? this.#explain(response, authorLine(stack), root) : response
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }

  noteReconcile(user: string, key: string): void {
    this.#byUser.get(user)?.recorder?.addReconciled(key)
  }

  get recordings(): Recording[] {
    return [...this.#recorders.values()].map(recorder => recorder.result())
  }

  /** @throws Error if an operator needed rights that `rbac.lock.json` does not grant */
  check(): void {
    if (this.#missing.size === 0) return
    throw new Error(
      `rbac.lock.json does not grant what this test needs:\n${[...this.#missing]
        .sort()
        .map(each => `  ${each}\n`)
        .join('')}If it should, record it: npx coxswain rights -- npm test`,
    )
  }

  #explain(response: WireResponse, line: SourceLine | undefined, root: string): WireResponse {
    const { body } = response
    if (!body || isStream(body)) return response
    const text = decodeText(body instanceof Uint8Array ? body : joinChunks(body))
    const [, what] = new RegExp(`${refusal}: ([^"\\\\]+)`).exec(text) ?? []
    if (what === undefined) return response
    const missing = `${what} (${line ? describeLine(line, root) : 'a watch of the operator'})`
    this.#missing.add(missing)
    return { ...response, body: encodeText(text.replace(`${refusal}: ${what}`, `${refusal}: ${missing}`)) }
  }
}

function describeLine({ file, line }: SourceLine, root: string): string {
  return `${file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file}:${line}`
}

/** Leader election and the configurations of webhooks are rights of the host: `coxswain manifests` grants them by themselves. */
function hostCalls({ operator, electionNamespace }: AddOptions): OperatorRights['isOfHost'] {
  const hasWebhooks = describeOperator(operator).webhooks.length > 0
  return ({ group, resource, namespace }) =>
    group === 'coordination.k8s.io'
      ? resource === 'leases' && electionNamespace !== undefined && namespace === electionNamespace
      : hasWebhooks && webhookResources.has(`${resource}.${group}`)
}

const webhookResources: ReadonlySet<string> = new Set([
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
])
