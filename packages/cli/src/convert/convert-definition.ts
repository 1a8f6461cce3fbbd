type Json = Record<string, unknown>

const oldVersion = 'apiextensions.k8s.io/v1beta1'
const newVersion = 'apiextensions.k8s.io/v1'
const preserve = 'x-kubernetes-preserve-unknown-fields'

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function isOldDefinition(value: unknown): value is Json {
  return isObject(value) && value.kind === 'CustomResourceDefinition' && value.apiVersion === oldVersion
}

export interface ConvertedDefinition {
  readonly object: Json
  /** Notes for the user: guesses, and what only they can decide. */
  readonly notes: readonly string[]
}

/**
 * The v1 form of a v1beta1 CustomResourceDefinition. Fields for all versions are copied to each; fields that no
 * schema specifies are preserved as before, unless `preserveUnknownFields` was false. The status is dropped.
 */
export function convertDefinition(definition: Json): ConvertedDefinition {
  const notes: string[] = []
  const spec = objectOf(definition.spec)
  const { status: _status, ...rest } = definition
  const {
    version,
    versions,
    validation,
    subresources,
    additionalPrinterColumns,
    conversion,
    preserveUnknownFields,
    scope,
    ...kept
  } = spec
  const keepsUnknown = preserveUnknownFields !== false
  const shared = { validation, subresources, additionalPrinterColumns }
  const listed = listOf(versions)
  const all = listed.length > 0 ? listed : [{ name: version ?? 'v1', served: true, storage: true }]
  if (listed.length === 0 && version === undefined) notes.push('no version is specified: assuming v1')
  const name = String(objectOf(definition.metadata).name ?? '')
  const group = String(spec.group ?? '')
  const annotations = objectOf(objectOf(definition.metadata).annotations)
  if (/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group) && !annotations['api-approved.kubernetes.io'])
    notes.push(
      `the group ${group} is reserved for Kubernetes: add the annotation api-approved.kubernetes.io with a URL, or a text that starts with "unapproved"`,
    )
  const object = {
    ...rest,
    apiVersion: newVersion,
    spec: {
      ...kept,
      scope: scope ?? 'Namespaced',
      versions: all.map(item => convertVersion(item, shared, { keepsUnknown, notes })),
      ...(isObject(conversion) && { conversion: convertConversion(conversion) }),
    },
  }
  return { object, notes: notes.map(note => (name === '' ? note : `${name}: ${note}`)) }
}

function convertVersion(
  version: Json,
  shared: {
    readonly validation: unknown
    readonly subresources: unknown
    readonly additionalPrinterColumns: unknown
  },
  options: { readonly keepsUnknown: boolean; readonly notes: string[] },
): Json {
  const { schema, subresources, additionalPrinterColumns, ...kept } = version
  const given = objectOf(schema ?? shared.validation).openAPIV3Schema
  const resources = subresources ?? shared.subresources
  const columns = listOf(additionalPrinterColumns ?? shared.additionalPrinterColumns)
  return {
    ...kept,
    schema: { openAPIV3Schema: convertSchema(given, `${String(version.name)}: schema`, options) },
    ...(isObject(resources) && { subresources: resources }),
    ...(columns.length > 0 && { additionalPrinterColumns: columns.map(convertColumn) }),
  }
}

function convertColumn(column: Json): Json {
  return Object.fromEntries(
    Object.entries(column).map(([key, value]) => [key === 'JSONPath' ? 'jsonPath' : key, value]),
  )
}

function convertConversion({ strategy, webhookClientConfig, conversionReviewVersions, ...kept }: Json): Json {
  const webhook = {
    ...(webhookClientConfig !== undefined && { clientConfig: webhookClientConfig }),
    ...(strategy === 'Webhook' && { conversionReviewVersions: conversionReviewVersions ?? ['v1beta1'] }),
  }
  return { strategy: strategy ?? 'None', ...(Object.keys(webhook).length > 0 && { webhook }), ...kept }
}

interface SchemaOptions {
  readonly keepsUnknown: boolean
  readonly notes: string[]
}

/** A structural schema: every node has a type, and objects specify whether they preserve unknown fields. */
function convertSchema(schema: unknown, place: string, options: SchemaOptions): Json {
  if (!isObject(schema) || Object.keys(schema).length === 0) return { type: 'object', [preserve]: true }
  return structural(schema, place, { ...options, root: true })
}

function structural(schema: Json, place: string, options: SchemaOptions & { readonly root?: boolean }): Json {
  const { root, ...inner } = options
  const { properties, items, additionalProperties } = schema
  const made: Json = { ...schema }
  if (isObject(properties)) {
    made.properties = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => {
        // The server validates apiVersion, kind and metadata.
        const isMeta = root && (name === 'metadata' || name === 'apiVersion' || name === 'kind')
        return [name, isMeta ? property : structural(objectOf(property), `${place}.${name}`, inner)]
      }),
    )
  }
  if (isObject(items)) made.items = structural(items, `${place}.items`, inner)
  if (isObject(additionalProperties))
    made.additionalProperties = structural(additionalProperties, `${place}.additionalProperties`, inner)
  if (made.type === undefined && made['x-kubernetes-int-or-string'] !== true && made[preserve] !== true) {
    const guess = root || properties || additionalProperties ? 'object' : items ? 'array' : undefined
    if (guess) made.type = guess
    else {
      made[preserve] = true
      inner.notes.push(`${place} has no type: any value is accepted`)
    }
  }
  const isOpen = made.type === 'object' && additionalProperties === undefined
  if (inner.keepsUnknown && isOpen) made[preserve] = true
  return made.type === undefined ? made : { type: made.type, ...made }
}
