import type { Kind } from '@coxswain/apimachinery/kinds'
import type { Client } from '@coxswain/client'

/** The client, with what it writes noted: `create ConfigMap default/a`. */
export function noting(client: Client, note: (text: string) => void): Client {
  return new Proxy(client, {
    get(target, property, receiver) {
      const member: unknown = Reflect.get(target, property, receiver)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const [kind, object] = args as [Partial<Kind>?, unknown?]
        if (!/^(?:get|list|watch)/.test(String(property)) && typeof kind?.kind === 'string')
          note(`${String(property)} ${kind.kind} ${nameOf(object)}`)
        return Reflect.apply(member, target, args)
      }
    },
  })
}

interface Named {
  readonly namespace?: string
  readonly name?: string
}

function nameOf(subject: unknown): string {
  const { metadata, namespace, name } = (subject ?? {}) as { readonly metadata?: Named } & Named
  const key = metadata ?? { namespace, name }
  return [key.namespace, key.name].filter(part => part !== undefined).join('/')
}
