import { buildFailed } from '../errors.ts'
import { builtInSchema, builtInScope } from './built-in.ts'
import { CustomSchemas } from './custom.ts'
import type { MergeSchema } from './merge-schema.ts'

const builtInVersion = 'v1.21.2'

/** What a build knows about kinds. The first kustomization with `openapi` decides, from the root down. */
export class Schemas {
  #custom: CustomSchemas | undefined
  #isSet = false
  /** Whether a scope was asked for before a schema of the author came. */
  #usesBuiltIn = false

  /** Takes the `openapi` field of a kustomization and the file that it names. */
  use(openapi: Readonly<Record<string, string>>, bytes: Uint8Array | undefined): void {
    if (this.#isSet) return
    const { version } = openapi
    if (bytes !== undefined) {
      if (version !== undefined)
        throw buildFailed('builtin version and custom schema provided, cannot use both')
      this.#custom = new CustomSchemas(bytes)
      this.#isSet = true
    } else if (version !== undefined && version !== '') {
      if (version !== builtInVersion) throw buildFailed('the specified OpenAPI version is not built in')
      this.#isSet = true
    }
  }

  schema(apiVersion: string, kind: string): MergeSchema | undefined {
    if (this.#custom === undefined) return builtInSchema(apiVersion, kind)
    return (
      this.#custom.schema(apiVersion, kind) ??
      (this.#usesBuiltIn ? builtInSchema(apiVersion, kind) : undefined)
    )
  }

  isClusterScoped(apiVersion: string, kind: string): boolean {
    const known = builtInScope(apiVersion, kind)
    if (known !== undefined) return !known
    if (this.#custom === undefined) {
      this.#usesBuiltIn = true
      return false
    }
    return this.#custom.isNamespaced(apiVersion, kind) === false
  }
}
