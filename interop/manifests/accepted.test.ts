import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { isDefinedKind } from '@coxswain/apimachinery/kinds'
import { generateManifests } from '@coxswain/project/manifests'
import { writeFiles } from '@coxswain/project/node'
import { createKubectl, type Kubectl, succeeds } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import fleet from './fleet.ts'
import * as operators from './kinds/operators.ts'
import * as shapes from './kinds/shapes.ts'

let target: Target
let kubectl: Kubectl
const directory = mkdtempSync(join(tmpdir(), 'coxswain-manifests-'))

before(async () => {
  target = await startTarget()
  kubectl = createKubectl('1.36', target.kubeconfig)
  const kinds = [...Object.values(shapes), ...Object.values(operators)].filter(isDefinedKind)
  const { generated, owned } = generateManifests({ operators: [fleet], kinds, project: { name: 'fleet' } })
  writeFiles(directory, [...generated, ...owned])
})
after(async () => {
  await kubectl('delete', '-k', join(directory, 'config/crd'), '--ignore-not-found')
  rmSync(directory, { recursive: true })
  await target[Symbol.asyncDispose]()
})

describe('a server', () => {
  it('accepts the definition of every kind', async () => {
    const out = await succeeds(kubectl('apply', '--server-side', '-k', join(directory, 'config/crd')))
    assert.ok(out.trim().split('\n').length >= 60, out)
    await succeeds(kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'))
    const violations = await succeeds(
      kubectl(
        'get',
        'crd',
        '-o',
        "jsonpath={.items[*].status.conditions[?(@.type=='NonStructuralSchema')].message}",
      ),
    )
    assert.equal(violations.trim(), '')
  })

  it('accepts the sample of every kind', async () => {
    await succeeds(
      kubectl('apply', '--server-side', '--dry-run=server', '-k', join(directory, 'config/samples')),
    )
  })

  it('accepts everything else', async () => {
    await succeeds(kubectl('create', 'namespace', 'fleet-system'))
    await succeeds(kubectl('create', 'namespace', 'harbor'))
    await succeeds(
      kubectl('apply', '--server-side', '--dry-run=server', '-k', join(directory, 'config/default')),
    )
    await succeeds(kubectl('delete', 'namespace', 'fleet-system', 'harbor', '--wait=false'))
  })
})
