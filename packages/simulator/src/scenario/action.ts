import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { isStatusError } from '@coxswain/apimachinery/status'
import { type Client, kindFor } from '@coxswain/client'
import type { Clock } from '@coxswain/kit'

/** Something that a user does, as data. */
export interface Action {
  readonly action: 'create' | 'change' | 'delete'
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  /** The fields of the object besides `metadata`, or their new values. */
  readonly fields?: JsonObject
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  /** Milliseconds until the next action, or until the operator has settled. */
  readonly wait: number | 'settle'
}

/** An action in words. */
export function describeAction({ action, kind, namespace, name, fields }: Action): string {
  const what = `${action} ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
  return fields === undefined ? what : `${what} ${JSON.stringify(fields.spec ?? fields)}`
}

/** Creates what the actions leave behind at once, each object with its last fields; undefined if that is what they do anyway. */
export function directOf(actions: readonly Action[]): Action[] | undefined {
  const objects = new Map<string, Action>()
  for (const action of actions) {
    const key = `${action.apiVersion} ${action.kind} ${action.namespace} ${action.name}`
    const present = objects.get(key)
    if (action.action === 'delete') objects.delete(key)
    else if (action.action === 'create' && !present) objects.set(key, action)
    else if (action.action === 'change' && present && action.fields)
      objects.set(key, { ...present, fields: action.fields })
  }
  if (objects.size === 0 || objects.size === actions.length) return undefined
  return [...objects.values()].map((action, index) => ({
    ...action,
    wait: index === objects.size - 1 ? 'settle' : 100,
  }))
}

export interface ActionContext {
  readonly client: Client
  readonly clock: Clock
  readonly kinds: readonly Kind[]
  /** Resolves when the operator has nothing left to do. */
  readonly settle: () => Promise<void>
  readonly note: (text: string) => void
}

/** How often, and after how many milliseconds, a user tries again what the server could not do just now. */
const retries = { count: 12, delay: 5_000 }

/** Does one after the other. What the server rejects for good is skipped: the next action may still be valid. */
export async function playActions(actions: readonly Action[], context: ActionContext): Promise<void> {
  for (const action of actions) {
    context.note(describeAction(action))
    await attempt(action, context)
    await (action.wait === 'settle' ? context.settle() : context.clock.sleep(action.wait))
  }
}

async function attempt(action: Action, context: ActionContext): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await perform(action, context)
    } catch (error) {
      if (!isStatusError(error)) throw error
      const { code = 500 } = error.status
      const isFinal = code < 500 && code !== 429 && !(code === 409 && action.action === 'create')
      if (isFinal || tries === retries.count) return context.note(`  answered ${code}: ${error.message}`)
      await context.clock.sleep(retries.delay)
    }
  }
}

async function perform(
  { action, apiVersion, kind: name, namespace, ...rest }: Action,
  { client, kinds }: ActionContext,
): Promise<void> {
  const kind = kinds.find(each => each.kind === name && apiVersionOf(each) === apiVersion)
  if (!kind) throw new Error(`the operator has no kind ${name} in ${apiVersion}`)
  const key = { name: rest.name, ...(kind.namespaced && { namespace: namespace ?? 'default' }) }
  const dynamic = kindFor(kind)
  const { annotations, labels, fields = {} } = rest
  if (action === 'delete') await client.delete(dynamic, key)
  else if (action === 'create')
    await client.create(dynamic, {
      ...fields,
      metadata: { ...key, ...(annotations && { annotations }), ...(labels && { labels }) },
    } as never)
  else {
    const present = await client.get(dynamic, key)
    if (present) await client.update(dynamic, { ...present, ...fields } as never)
  }
}

/** `GROUP/VERSION`, or the version in the core group. */
export const apiVersionOf = ({ group, version }: Pick<Kind, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`
