import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'

/** A certificate for clients that ask for one of its names. */
export interface NamedCertificate {
  /** DNS names; `*.example.com` stands for one label more. */
  readonly names: readonly string[]
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** The certificate of a name, undefined where none has it. */
export type NameSelector = (name: string) => SecureContext | undefined

/** A name itself counts before a wildcard, and of two certificates with one name the first. Throws for what is not a pair. */
export function createNameSelector(
  certificates: readonly NamedCertificate[],
  describe: (pair: Pick<NamedCertificate, 'cert' | 'key'>) => SecureContextOptions,
): NameSelector {
  const contexts = new Map<string, SecureContext>()
  for (const { names, cert, key } of certificates) {
    const context = createSecureContext(describe({ cert, key }))
    for (const name of names.map(name => name.toLowerCase()))
      if (!contexts.has(name)) contexts.set(name, context)
  }
  return name => {
    const asked = name.toLowerCase().replace(/\.$/, '')
    return contexts.get(asked) ?? contexts.get(asked.replace(/^[^.]+/, '*'))
  }
}
