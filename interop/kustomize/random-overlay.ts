/** Random kustomizations: a base, an overlay and sometimes a component, from a seed. */
import type { Random } from '@coxswain/kit'

/** What patches and replacements name is nearly always there. */
const always = ['deployment', 'service', 'configmap', 'secret', 'statefulset', 'thing']
const sometimes = ['cronjob', 'rbac', 'ingress', 'hpa', 'netpol', 'pdb', 'webhook', 'crd']
const words = [
  'a',
  'web',
  '1',
  'yes',
  '0755',
  'true',
  'x: y',
  'long text with spaces',
  '',
  "it's",
  '"q"',
  '2020-01-01',
  '#c',
  '~',
  'é',
  '1e3',
  'null',
]

const quote = (text: string): string => JSON.stringify(text)

export function randomOverlay(random: Random): Map<string, string> {
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!
  const chance = (of: number): boolean => random.below(of) === 0
  const used = [...always.filter(() => !chance(12)), ...sometimes.filter(() => chance(2))]
  const steps: readonly (() => string)[] = [
    () => `namePrefix: ${pick(['p-', 'dev-', '1'])}\n`,
    () => `nameSuffix: ${pick(['-s', '-v2'])}\n`,
    () => `namespace: ${pick(['prod', 'team'])}\n`,
    () => `commonLabels: {${pick(['app', 'team', 'x'])}: ${quote(pick(words))}}\n`,
    () =>
      `labels:\n- pairs: {l: ${quote(pick(words))}}\n  ${pick(['includeSelectors', 'includeTemplates', 'includeVolumeClaimTemplates'])}: ${pick(['true', 'false'])}\n`,
    () => `commonAnnotations: {note: ${quote(pick(words))}, n: "1"}\n`,
    () =>
      `images: [{name: ${pick(['nginx', 'postgres', 'busybox', '.*'])}, ${pick(['newTag: v9', 'newName: other/image', 'digest: "sha256:1"', 'tagSuffix: -x'])}}]\n`,
    () => `replicas: [{name: ${pick(['web', 'db'])}, count: ${random.below(9)}}]\n`,
    () =>
      `configMapGenerator: [{name: ${pick(['gen, behavior: create', 'gen', 'settings, behavior: merge', 'settings, behavior: replace'])}, literals: [${quote(`k=${pick(words)}`)}, "z=${random.below(99)}"]}]\n`,
    () =>
      `secretGenerator: [{name: ${pick(['gen', 'creds, behavior: merge'])}, literals: [${quote(`k=${pick(words)}`)}], options: {disableNameSuffixHash: ${pick(['true', 'false'])}}}]\n`,
    () => `patches:\n${mergePatch(pick, random)}`,
    () => `patches:\n${jsonPatch(pick, random)}`,
    () =>
      `replacements:\n- source: ${pick(['{kind: ConfigMap, name: settings, fieldPath: data.a}', '{kind: Service, name: web}', '{kind: Deployment, fieldPath: spec.replicas}', '{kind: Nothing}'])}\n  targets:\n  - select: {kind: ${pick(['Deployment', 'Service', 'Thing', '.*'])}}\n    fieldPaths: [${pick(['metadata.labels.r', 'spec.x.y', 'metadata.annotations.z'])}]\n    options: {create: true}\n`,
    () => `sortOptions: {order: ${pick(['fifo', 'legacy'])}}\n`,
    () =>
      `vars:\n- {name: V, objref: {apiVersion: v1, ${pick(['kind: Service, name: web', 'kind: ConfigMap, name: settings'])}}}\n`,
  ]
  const some = (most: number): string => {
    const chosen = new Map<string, string>()
    for (let left = 1 + random.below(most); left > 0; left--) {
      const step = pick(steps)()
      chosen.set(step.slice(0, step.indexOf(':')), step)
    }
    return [...chosen.values()].join('')
  }
  const files = new Map<string, string>()
  const component = chance(3)
  files.set(
    'app/kustomization.yaml',
    `resources: [../base]\n${component ? 'components: [../component]\n' : ''}${some(4)}`,
  )
  files.set('base/kustomization.yaml', `resources: [r.yaml]\n${chance(2) ? some(3) : ''}`)
  files.set('base/r.yaml', used.map(kind => `@${kind}`).join(' '))
  if (component)
    files.set(
      'component/kustomization.yaml',
      `apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n${some(2)}`,
    )
  return files
}

type Pick = <T>(items: readonly T[]) => T

function mergePatch(pick: Pick, random: Random): string {
  const pod = [
    '{spec: {replicas: 4}}',
    '{spec: {template: {spec: {containers: [{name: main, image: patched}, {name: extra}]}}}}',
    '{spec: {template: {spec: {containers: [{name: side, $patch: delete}]}}}}',
    '{spec: {template: {spec: {containers: [{name: main, ports: [{containerPort: 80, name: p}, {containerPort: 81}]}]}}}}',
    '{spec: {template: {spec: {volumes: [{name: data, emptyDir: {}}], nodeSelector: {a: "1"}}}}}',
  ]
  const any = [
    '{metadata: {labels: {m: "1"}, annotations: {q: 2}, finalizers: [f]}}',
    '{$patch: delete}',
    '{spec: {$patch: replace, only: 1}}',
  ]
  const [target, bodies] = pick<[string[], string[]]>([
    [['apps/v1', 'Deployment', 'web'], pod],
    [['apps/v1', 'StatefulSet', 'db'], pod],
    [['v1', 'Service', 'web'], ['{spec: {ports: [{port: 80, nodePort: 30000}, {port: 81}]}}']],
    [['v1', 'ConfigMap', 'settings'], ['{data: {a: "9", b: null, new: yes}}']],
    [
      ['example.com/v1', 'Thing', 'thing'],
      ['{spec: {selector: null, items: [{name: b, value: 7}], list: []}}'],
    ],
  ])
  const body = pick([...bodies, ...bodies, ...any])
  const object = `{apiVersion: ${target[0]}, kind: ${target[1]}, metadata: {name: ${target[2]}}}`
  const merged = JSON.stringify(`${object.slice(0, -1)}, ${body.slice(1)}`).replace(
    /metadata: \{name: (\w+)\}, metadata: \{/,
    'metadata: {name: $1, ',
  )
  return `- patch: ${merged}\n${random.below(3) === 0 ? `  target: {kind: ${target[1]}}\n` : ''}`
}

function jsonPatch(pick: Pick, random: Random): string {
  const operation = pick([
    '{"op": "add", "path": "/metadata/labels", "value": {"j": "1"}}',
    '{"op": "replace", "path": "/metadata/name", "value": "renamed"}',
    '{"op": "add", "path": "/spec/added", "value": [1, 2.5, "x", null, 1000000]}',
    '{"op": "add", "path": "/more", "value": {"deep": {"er": true}}}',
    '{"op": "copy", "from": "/metadata/name", "path": "/spec/copied"}',
    '{"op": "move", "from": "/spec/selector", "path": "/spec/moved"}',
  ])
  const target = pick([
    '{kind: Deployment}',
    '{kind: Service, name: web}',
    '{name: "w.*", kind: "Dep.*"}',
    '{kind: "Stateful.*|Service"}',
  ])
  return `- patch: ${JSON.stringify(`[${operation}]`)}\n  target: ${target}\n${random.below(4) === 0 ? '  options: {allowNameChange: true}\n' : ''}`
}
