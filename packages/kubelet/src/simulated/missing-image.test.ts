import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findProblem } from './missing-image.ts'

describe('images that do not exist', () => {
  it('have names or tags that say so', () => {
    for (const image of [
      'nginx:404',
      'nginx:non-existent',
      'nginx:does-not-exist@sha256:00',
      'nonexistent',
      'registry.example:5000/team/this-image-does-not-exist:1',
      'invalid.registry.k8s.io/invalid/alpine:3.1',
      'my-invalid-image',
      'no-such-image:v1',
    ])
      assert.ok(findProblem(image), image)
  })

  it('do not include any others', () => {
    for (const image of [
      'nginx',
      'nginx:1.404',
      'localhost:404/app:1',
      'invalidator',
      'validator:v1',
      'missing',
    ])
      assert.equal(findProblem(image), undefined, image)
  })

  it("fail with containerd's error", () => {
    const full = 'docker.io/library/nginx:404'
    assert.equal(
      findProblem('nginx:404'),
      `rpc error: code = NotFound desc = failed to pull and unpack image "${full}": failed to resolve reference "${full}": ${full}: not found`,
    )
    assert.match(
      findProblem('team/non-existent') ?? '',
      /^rpc error: code = Unknown desc = failed to pull and unpack image "docker\.io\/team\/non-existent:latest": .*: pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed$/,
    )
  })
})
