import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { readYamlDocuments } from '@coxswain/apimachinery/yaml'
import { coversCall, describeCall, type RecordedCall, readRecordedCalls } from '@coxswain/runtime'

/**
 * The tests of each example run with the rights of its rbac.lock.json, since it is beside the package.json of the test. What is
 * deployed has the same: this compares.
 */
const examples = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter(entry => entry.isDirectory() && existsSync(new URL(`${entry.name}/operator.ts`, import.meta.url)))
  .map(({ name }) => name)

interface Role {
  readonly kind: string
  readonly metadata: { readonly namespace?: string }
  readonly rules: readonly {
    readonly apiGroups?: readonly string[]
    readonly resources?: readonly string[]
    readonly resourceNames?: readonly string[]
    readonly verbs: readonly string[]
  }[]
}

/** What every host needs: leader election, events, certificates and configurations of webhooks, access to metrics. */
const hostResources = new Set([
  'leases.coordination.k8s.io',
  'events',
  'secrets',
  'tokenreviews.authentication.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
])

const isOfHost = ({ group, resource }: RecordedCall) =>
  hostResources.has(group === '' ? resource : `${resource}.${group}`)

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

function deployedRights(example: string): RecordedCall[] {
  const roles = [...readYamlDocuments(read(`${example}/deploy.yaml`))]
    .map(({ value }) => value as unknown as Role)
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
  return roles.flatMap(({ metadata: { namespace }, rules }) =>
    rules.flatMap(({ apiGroups = [], resources = [], resourceNames = [undefined], verbs }) =>
      apiGroups.flatMap(group =>
        resources.flatMap(path =>
          resourceNames.flatMap(name =>
            verbs.map(verb => {
              const [resource = '', subresource] = path.split('/')
              return {
                verb,
                group,
                resource,
                ...(subresource !== undefined && { subresource }),
                ...(namespace !== undefined && { namespace }),
                ...(name !== undefined && { name }),
              }
            }),
          ),
        ),
      ),
    ),
  )
}

const describeAll = (calls: readonly RecordedCall[]) =>
  [...new Set(calls.filter(call => !isOfHost(call)).map(describeCall))].sort()

/** Its tests also run a variant that works in another namespace and deletes volumes; that one is not deployed. */
const withVariants = new Set(['06-pipeline'])

describe('the rights of the examples', () => {
  for (const example of examples)
    it(`${example} is deployed with the rights that its tests run with`, () => {
      const locked = readRecordedCalls(JSON.parse(read(`${example}/rbac.lock.json`)))
      const deployed = deployedRights(example).filter(call => !isOfHost(call))
      assert.deepEqual(
        deployed.filter(call => !locked.some(right => coversCall(right, call))).map(describeCall),
        [],
        'it may do what no test does',
      )
      if (!withVariants.has(example)) assert.deepEqual(describeAll(deployed), describeAll(locked))
    })
})
