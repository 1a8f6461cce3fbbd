import { printString } from '../source/identifier.ts'
import { printValue } from '../source/print-value.ts'

/** A rule of a role for one resource. */
export interface RightsRule {
  readonly group: string
  /** With the subresource: `frigates/status`. */
  readonly resource: string
  readonly verbs: readonly string[]
  readonly names: readonly string[]
}

export interface ControllerSource {
  readonly kind: string
  readonly version: string
  readonly rules: readonly RightsRule[]
  readonly owns: readonly { readonly module: string; readonly kind: string }[]
}

const reads = new Set(['get', 'list', 'watch'])

/** controllers/KIND.ts */
export function controllerFile({ kind, version, rules, owns }: ControllerSource): string {
  const handle = `${kind}.${version}`
  const lines = rules.flatMap(rule => {
    // Reads follow from for().
    const verbs = rule.resource.includes('/') ? rule.verbs : rule.verbs.filter(verb => !reads.has(verb))
    return verbs.length === 0 ? [] : [`    .rbac(${handle}, ${printValue(verbs)}${optionsOf(rule)})\n`]
  })
  const imports = owns.map(({ module, kind: name }) => `import { ${name} } from ${printString(module)}\n`)
  return `${imports.join('')}import type { OperatorBuilder } from 'coxswain'
import { ${kind} } from '../api/${kind.toLowerCase()}.ts'

/** Adds the controller of ${kind} objects. */
export function add${kind}Controller(operator: OperatorBuilder): void {
  operator
    .controller('${kind.toLowerCase()}')
    .for(${handle})
${owns.map(({ kind: name }) => `    .owns(${name})\n`).join('')}${lines.join('')}    .reconcile(async ({ key, client }) => {
      const object = await client.get(${handle}, key)
      if (!object) return
      throw new Error('write what Reconcile of the Go controller does')
    })
}
`
}

function optionsOf({ resource, names }: RightsRule): string {
  const [, subresource] = resource.split('/')
  const options = { ...(subresource !== undefined && { subresource }), ...(names.length > 0 && { names }) }
  return Object.keys(options).length === 0 ? '' : `, ${printValue(options)}`
}

export interface WebhookSource {
  readonly kind: string
  readonly version: string
  readonly defaulting: boolean
  readonly validation: boolean
  readonly conversion: boolean
  readonly spoke: readonly string[]
}

/** webhooks/KIND.ts */
export function webhookFile(source: WebhookSource): string {
  const { kind, version, defaulting, validation, conversion, spoke } = source
  const missing = (what: string) => `throw new Error('write what ${what} of the Go webhook does')`
  const calls = [
    ...(defaulting ? [`    .default(() => {\n      ${missing('Default')}\n    })\n`] : []),
    ...(validation
      ? [
          `    .validate(() => {\n      ${missing('ValidateCreate, ValidateUpdate and ValidateDelete')}\n    })\n`,
        ]
      : []),
    ...(conversion ? spoke : []).map(
      other =>
        `    .convert(${kind}.${other}, {\n      to: () => {\n        ${missing('ConvertFrom')}\n      },\n      from: () => {\n        ${missing('ConvertTo')}\n      },\n    })\n`,
    ),
  ]
  return `import type { OperatorBuilder } from 'coxswain'
import { ${kind} } from '../api/${kind.toLowerCase()}.ts'

/** Adds the webhooks of ${kind} objects. */
export function add${kind}Webhooks(operator: OperatorBuilder): void {
  operator
    .webhook(${kind}.${version})
${calls.join('')}}
`
}

export interface OperatorSource {
  readonly name: string
  /** Kinds. */
  readonly controllers: readonly string[]
  readonly webhooks: readonly string[]
  /** Rights on resources of other projects: nothing tells which controller needs them. */
  readonly rules: readonly RightsRule[]
}

/** operator.ts */
export function operatorFile({ name, controllers, webhooks, rules }: OperatorSource): string {
  const imports = [
    ...controllers.map(
      kind => `import { add${kind}Controller } from './controllers/${kind.toLowerCase()}.ts'\n`,
    ),
    ...webhooks.map(kind => `import { add${kind}Webhooks } from './webhooks/${kind.toLowerCase()}.ts'\n`),
  ]
  const rights = rules.map(rule => {
    const target = { group: rule.group, resource: rule.resource.split('/')[0] }
    return `  operator.rbac(${printValue(target)}, ${printValue(rule.verbs)}${optionsOf(rule)})\n`
  })
  return `import { defineOperator } from 'coxswain'
${imports.join('')}// +coxswain:scaffold:imports

export default defineOperator(${printString(name)}, operator => {
${controllers.map(kind => `  add${kind}Controller(operator)\n`).join('')}  // +coxswain:scaffold:controllers
${webhooks.map(kind => `  add${kind}Webhooks(operator)\n`).join('')}  // +coxswain:scaffold:webhooks
${rights.join('')}})
`
}
