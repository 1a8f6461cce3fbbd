import { isObject } from '@coxswain/apimachinery/json'
import type { CustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import { readYaml, writeYaml } from '@coxswain/apimachinery/yaml'
import { ProjectError } from '../errors.ts'
import type { GeneratedFile } from '../files/generated-file.ts'
import { printKind } from './kind-source.ts'
import { controllerFile, operatorFile, type RightsRule, webhookFile } from './operator-source.ts'

/** What is read of a Go project of kubebuilder. */
export interface KubebuilderProject {
  /** The text of PROJECT. */
  readonly project: string
  /** The CRDs of config/crd/bases. */
  readonly definitions: readonly CustomResourceDefinition[]
  /** The objects of config/rbac/role.yaml. */
  readonly roles: readonly unknown[]
  /** Sources of controllers: their `Owns(...)` are read. */
  readonly sources: readonly string[]
}

/** The TypeScript twin of a project. */
export interface ImportedProject {
  readonly files: readonly GeneratedFile[]
  /** What has to be written by hand. */
  readonly todo: readonly string[]
}

interface Resource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly controller: boolean
  readonly webhooks: {
    readonly defaulting: boolean
    readonly validation: boolean
    readonly conversion: boolean
    readonly spoke: readonly string[]
  }
}

/**
 * The TypeScript twin of a kubebuilder project: kinds as `defineKind` sources, controllers with their rights, and webhooks, whose bodies are
 * to be written.
 * @throws ProjectError `BadProject` for a PROJECT file that cannot be read or a kind without a CRD
 */
export function importKubebuilder(input: KubebuilderProject): ImportedProject {
  const { name, resources, content } = readProject(input.project)
  const files: GeneratedFile[] = [
    { path: 'PROJECT', content },
    { path: 'package.json', content: packageJson(name) },
    {
      path: 'coxswain.config.ts',
      content:
        "import { defineConfig } from 'coxswain'\n\nexport default defineConfig({\n  operators: ['operator.ts'],\n})\n",
    },
  ]
  const todo: string[] = []
  const rules = input.roles.flatMap(rulesOf)
  const kinds = [...Map.groupBy(resources, ({ group, kind }) => `${group} ${kind}`).values()]
  const named = kinds.map(([first]) => first!)
  const plurals = new Map<string, string>()
  for (const versions of kinds) {
    const [{ group, kind }] = versions as [Resource]
    const crd = input.definitions.find(({ spec }) => spec.group === group && spec.names.kind === kind)
    if (crd === undefined)
      throw new ProjectError(
        'BadProject',
        `${kind}.${group} has no definition in config/crd/bases; run: make manifests`,
      )
    plurals.set(`${group}/${crd.spec.names.plural}`, kind)
    const source = printKind(crd)
    const file = kind.toLowerCase()
    files.push({ path: `api/${file}.ts`, content: source.code })
    if (versions.some(({ controller }) => controller)) {
      const own = rules.filter(
        rule => rule.group === group && rule.resource.split('/')[0] === crd.spec.names.plural,
      )
      files.push({
        path: `controllers/${file}.ts`,
        content: controllerFile({
          kind,
          version: source.version,
          rules: own,
          owns: ownedKinds(input.sources, kind),
        }),
      })
      todo.push(`controllers/${file}.ts: write reconcile`)
    }
    const hooked = versions.find(({ webhooks }) => Object.values(webhooks).some(flag => flag === true))
    if (hooked !== undefined) {
      files.push({
        path: `webhooks/${file}.ts`,
        content: webhookFile({ kind, version: hooked.version, ...hooked.webhooks }),
      })
      for (const part of ['defaulting', 'validation', 'conversion'] as const)
        if (hooked.webhooks[part]) todo.push(`webhooks/${file}.ts: write the ${part}`)
    }
  }
  const others = rules.filter(({ group, resource }) => !plurals.has(`${group}/${resource.split('/')[0]}`))
  const withController = named.filter(({ kind }) =>
    files.some(({ path }) => path === `controllers/${kind.toLowerCase()}.ts`),
  )
  const withWebhooks = named.filter(({ kind }) =>
    files.some(({ path }) => path === `webhooks/${kind.toLowerCase()}.ts`),
  )
  files.push({
    path: 'operator.ts',
    content: operatorFile({
      name,
      controllers: withController.map(({ kind }) => kind),
      webhooks: withWebhooks.map(({ kind }) => kind),
      rules: others,
    }),
  })
  return { files, todo }
}

function readProject(text: string): {
  readonly name: string
  readonly resources: readonly Resource[]
  readonly content: string
} {
  let value: unknown
  try {
    value = readYaml(text)?.value
  } catch (error) {
    throw new ProjectError('BadProject', `PROJECT: ${(error as Error).message}`, { cause: error })
  }
  if (!isObject(value) || typeof value.domain !== 'string')
    throw new ProjectError('BadProject', 'PROJECT: domain is required')
  if (String(value.version) !== '3')
    throw new ProjectError(
      'BadProject',
      `PROJECT: version ${String(value.version)} is not supported; it must be 3`,
    )
  const { domain, projectName } = value
  const list = Array.isArray(value.resources) ? value.resources.filter(isObject) : []
  const resources = list
    // Kinds of other projects have controllers and webhooks here, but no API.
    .filter(({ api }) => isObject(api))
    .map((resource): Resource => {
      const { kind, version } = resource
      if (typeof kind !== 'string' || !/^[A-Z][A-Za-z0-9]*$/.test(kind) || typeof version !== 'string')
        throw new ProjectError('BadProject', 'PROJECT: resources need a kind and a version each')
      const webhooks = isObject(resource.webhooks) ? resource.webhooks : {}
      const parent = typeof resource.domain === 'string' ? resource.domain : domain
      return {
        group: resource.group === undefined ? parent : `${String(resource.group)}.${parent}`,
        version,
        kind,
        controller: resource.controller === true,
        webhooks: {
          defaulting: webhooks.defaulting === true,
          validation: webhooks.validation === true,
          conversion: webhooks.conversion === true,
          spoke: Array.isArray(webhooks.spoke) ? webhooks.spoke.map(String) : [],
        },
      }
    })
  if (resources.length === 0)
    throw new ProjectError('BadProject', 'PROJECT: there is no resource with an API')
  const twin = {
    domain,
    layout: ['ts.coxswain/v1'],
    projectName: typeof projectName === 'string' ? projectName : 'operator',
    resources: list.map(resource => ({
      ...resource,
      ...(typeof resource.kind === 'string' && { path: `api/${resource.kind.toLowerCase()}.ts` }),
    })),
    version: '3',
  }
  return { name: twin.projectName, resources, content: writeYaml(twin) }
}

function packageJson(name: string): string {
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { manifests: 'coxswain manifests', dev: 'coxswain dev', run: 'coxswain run' },
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

function rulesOf(role: unknown): RightsRule[] {
  if (!isObject(role) || !Array.isArray(role.rules)) return []
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
  return role.rules.filter(isObject).flatMap(rule =>
    texts(rule.apiGroups).flatMap(group =>
      texts(rule.resources).map(resource => ({
        group,
        resource,
        verbs: texts(rule.verbs),
        names: texts(rule.resourceNames),
      })),
    ),
  )
}

/** `Owns(&appsv1.Deployment{})` in the source that sets up the controller of the kind. */
function ownedKinds(
  sources: readonly string[],
  kind: string,
): { readonly module: string; readonly kind: string }[] {
  const source = sources.find(text => new RegExp(`For\\(&\\w+\\.${kind}\\{\\}`).test(text)) ?? ''
  return [...source.matchAll(/Owns\(&([a-z]+)(v\d\w*)\.(\w+)\{\}/g)]
    .filter(([, group]) => builtInGroups.has(group!))
    .map(([, group, version, name]) => ({ module: `@coxswain/api/${group}/${version}`, kind: name! }))
}

const builtInGroups = new Set(['apps', 'autoscaling', 'batch', 'core', 'networking', 'policy', 'rbac'])
