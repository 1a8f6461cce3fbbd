import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod } from '@coxswain/api/core/v1'
import { resolveVolumes, type VolumeSources } from './volumes.ts'

const none = async () => undefined
const sources: VolumeSources = {
  capacity: {},
  configMap: none,
  secret: none,
  claim: none,
  volume: none,
  token: async () => 'secret',
}

/** The file with the token of a Pod whose containers run as these users. */
async function tokenFor(...users: (number | undefined)[]) {
  const projected = { sources: [{ serviceAccountToken: { path: 'token' } }] }
  const containers = users.map((runAsUser, index) => ({
    name: `c${index}`,
    ...(runAsUser !== undefined && { securityContext: { runAsUser } }),
  }))
  const pod = { metadata: { name: 'a' }, spec: { volumes: [{ name: 'token', projected }], containers } }
  const [volume] = await resolveVolumes(pod as unknown as Pod, sources)
  assert.ok(volume?.type === 'files')
  const { mode, owner } = volume.files.get('token')!
  return { mode, owner }
}

describe('the file of a service account token', () => {
  it('belongs to the one user that all containers run as', async () => {
    assert.deepEqual(await tokenFor(1000, 1000), { mode: 0o600, owner: 1000 })
    assert.deepEqual(await tokenFor(undefined, undefined), { mode: 0o600, owner: undefined })
  })

  it('can be read by all containers when their users differ', async () => {
    assert.deepEqual(await tokenFor(1000, undefined), { mode: 0o644, owner: undefined })
    assert.deepEqual(await tokenFor(1000, 2000), { mode: 0o644, owner: undefined })
  })
})
